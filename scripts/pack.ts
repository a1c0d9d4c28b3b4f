// npm run pack: a tarball of every public package in `dist/packages`, as npm would publish it.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembleCommand } from './assemble-command.ts';
import { buildDashboard } from './build-dashboard.ts';
import { buildPackages } from './build.ts';
import type { Workspace } from './packages/public-packages.ts';
import { home, publicPackages } from './packages/public-packages.ts';
import { publishedManifest } from './packages/published-manifest.ts';

const staging = join(home, 'dist/staging');
export const packedFolder = join(home, 'dist/packages');

/** A folder with what the tarball has in it: npm packs the manifest that it finds. */
function stage(one: Workspace): string {
  const { folder, path, manifest } = one;
  const to = join(staging, folder);
  mkdirSync(to, { recursive: true });
  const published = publishedManifest(one);
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  cpSync(join(home, 'LICENSE'), join(to, 'LICENSE'));
  cpSync(join(path, 'README.md'), join(to, 'README.md'));
  if (manifest.bin !== undefined) assembleCommand(to);
  for (const name of manifest.files ?? []) {
    if (!existsSync(join(to, name))) cpSync(join(path, name), join(to, name), { recursive: true });
  }
  return to;
}

/** Returns the tarballs. */
export function packPackages(): readonly string[] {
  buildDashboard();
  buildPackages();
  rmSync(staging, { recursive: true, force: true });
  rmSync(packedFolder, { recursive: true, force: true });
  mkdirSync(packedFolder, { recursive: true });
  const folders = publicPackages().map(stage);
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', packedFolder, ...folders];
  const said = execFileSync('npm', args, { cwd: staging, encoding: 'utf8' });
  return said
    .trim()
    .split('\n')
    .map((name) => join(packedFolder, name));
}

if (import.meta.main) for (const tarball of packPackages()) process.stdout.write(`${tarball}\n`);

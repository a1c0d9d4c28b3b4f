// npm run pack: a tarball of every public package in `dist/packages`, as npm would publish it.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildDashboard } from './build-dashboard.ts';
import { buildPackages, compiled } from './build.ts';
import type { Workspace } from './packages/public-packages.ts';
import { home, publicPackages, workspaces } from './packages/public-packages.ts';
import { publishedManifest } from './packages/published-manifest.ts';

const staging = join(home, 'dist/staging');
export const packedFolder = join(home, 'dist/packages');

/** A folder with what the tarball has in it: npm packs the manifest that it finds. */
function stage(one: Workspace): string {
  const { folder, path, manifest } = one;
  const to = join(staging, folder);
  mkdirSync(to, { recursive: true });
  const privateNames = new Set(workspaces().flatMap(({ manifest: { name, private: own } }) => (own ? [name] : [])));
  const published = publishedManifest(one, privateNames);
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  cpSync(join(home, 'LICENSE'), join(to, 'LICENSE'));
  cpSync(join(path, 'README.md'), join(to, 'README.md'));
  for (const name of manifest.files ?? []) {
    if (existsSync(join(path, name))) cpSync(join(path, name), join(to, name), { recursive: true });
  }
  if (manifest.bin !== undefined) stageCommand(to);
  return to;
}

/** The command starts what is built, and brings the dashboard. */
function stageCommand(to: string): void {
  const bin = join(to, 'bin/reeve.mjs');
  const source = readFileSync(bin, 'utf8');
  const published = source
    .replace("'../src/main.ts'", "'../dist/main.js'")
    .replace(/Run "npm install" in the repository[^\\]*/, () => installHint);
  if (!published.includes('dist/main.js') || !published.includes(installHint)) {
    throw new Error(`${bin} has changed: say here what it starts when it is published`);
  }
  writeFileSync(bin, published);
  const isShipped = (path: string) => !basename(path).startsWith('.');
  cpSync(join(home, 'packages/dashboard/dist'), join(to, 'dashboard/dist'), { recursive: true, filter: isShipped });
  cpSync(join(compiled, 'dashboard/index.js'), join(to, 'dashboard/index.js'));
}

/** It stands in a text in which expressions are replaced when it is shown. */
const installHint =
  'Where that is not installed, "npx -p node-linux-${process.arch}@24 -p @reeve/cli reeve" brings one.';

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

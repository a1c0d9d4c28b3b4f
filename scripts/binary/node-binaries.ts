import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { home } from '../packages/public-packages.ts';

const cache = join(home, 'node_modules/.cache/reeve-binary');

/** Writes resources into executables, for those of Node the code of an application. */
export interface Postject {
  inject(file: string, resource: string, data: Buffer, options: { sentinelFuse: string }): Promise<void>;
}

/** The tool is fetched when it is needed, in one version: nothing that runs depends on it. */
export function loadPostject(): Postject {
  const folder = unpacked('postject', '1.0.0-alpha.6');
  return createRequire(import.meta.url)(join(folder, 'dist/api.js')) as Postject;
}

/** The executable of Node for an architecture, in the version that runs here, out of the package that npm has of it. */
export function nodeBinary(arch: string): string {
  return join(unpacked(`node-linux-${arch}`, process.versions.node), 'bin/node');
}

/** The licence of that Node, and of the libraries in it. */
export function nodeLicence(arch: string): string {
  return readFileSync(join(unpacked(`node-linux-${arch}`, process.versions.node), 'LICENSE'), 'utf8');
}

/** The content of a package of npm, without installing it. npm compares what it fetches with the registry's digest. */
function unpacked(name: string, version: string): string {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const aside = `${folder}-${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    const said = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: aside, encoding: 'utf8' });
    execFileSync('tar', ['-xzf', said.trim().split('\n').at(-1) ?? ''], { cwd: aside });
    renameSync(join(aside, 'package'), folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return folder;
}

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
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
  const folder = unpacked('postject', postject);
  return createRequire(import.meta.url)(join(folder, 'dist/api.js')) as Postject;
}

/** A version of a package, and the digest of its archive. */
interface Pinned {
  readonly version: string;
  readonly integrity: string;
}

interface Lock {
  readonly packages: Readonly<Record<string, Pinned>>;
}

const postject: Pinned = {
  version: '1.0.0-alpha.6',
  integrity: 'sha512-b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==',
};

/** The version of Node that a checkout, the image and the executables bring. */
export function nodeVersion(arch: string): string {
  return pinnedNode(arch).version;
}

function pinnedNode(arch: string): Pinned {
  const lock = JSON.parse(readFileSync(join(home, 'runtime/package-lock.json'), 'utf8')) as Lock;
  const pinned = lock.packages[`node_modules/node-linux-${arch}`];
  if (pinned === undefined) throw new Error(`runtime/package-lock.json names no Node for ${arch}`);
  return pinned;
}

/** The executable of that Node for an architecture, out of the package that npm has of it. */
export function nodeBinary(arch: string): string {
  return join(nodePackage(arch), 'bin/node');
}

/** The licence of that Node, and of the libraries in it. */
export function nodeLicence(arch: string): string {
  return readFileSync(join(nodePackage(arch), 'LICENSE'), 'utf8');
}

function nodePackage(arch: string): string {
  return unpacked(`node-linux-${arch}`, pinnedNode(arch));
}

/** The content of a package of npm, without installing it. */
function unpacked(name: string, { version, integrity }: Pinned): string {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const aside = `${folder}-${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    const said = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: aside, encoding: 'utf8' });
    const archive = join(aside, said.trim().split('\n').at(-1) ?? '');
    const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
    if (integrity !== `sha512-${digest}`) throw new Error(`${name}@${version} is not the one that is pinned here`);
    execFileSync('tar', ['-xzf', archive], { cwd: aside });
    renameSync(join(aside, 'package'), folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return folder;
}

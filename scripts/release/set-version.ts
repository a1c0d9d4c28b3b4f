import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home, workspaces } from '../packages/public-packages.ts';

const form = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?$/;

/** Throws unless the version has the form of one and comes after the current one, or is it. */
export function requireVersion(version: string | undefined, current: string): string {
  const [is, was] = [form.exec(version ?? ''), form.exec(current)];
  if (version === undefined || is === null) throw new Error('say which version, as in: npm run release -- 0.2.0');
  const difference = [1, 2, 3].map((at) => Number(is[at]) - Number(was?.[at])).find((by) => by !== 0) ?? 0;
  if (difference < 0) throw new Error(`${version} comes before ${current}`);
  return version;
}

/** A manifest with another version. The packages of one release depend on each other in exactly that version. */
export function manifestWithVersion(text: string, version: string): string {
  return text
    .replace(/^ {2}"version": "[^"]+"/m, `  "version": "${version}"`)
    .replaceAll(/^( {4}"@reeve\/[^"]+"): "[^"]+"/gm, `$1: "${version}"`);
}

interface Lock {
  version: string;
  readonly packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
}

export function lockWithVersion(text: string, version: string): string {
  const lock = JSON.parse(text) as Lock;
  lock.version = version;
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path !== '' && !path.startsWith('packages/')) continue;
    // What npm has put under a workspace is a package of others.
    if (path.includes('/node_modules/')) continue;
    locked.version = version;
    for (const name of Object.keys(locked.dependencies ?? {})) {
      if (name.startsWith('@reeve/') && locked.dependencies !== undefined) locked.dependencies[name] = version;
    }
  }
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/** Where else the version stands, and by which lines. */
const elsewhere: Readonly<Record<string, RegExp>> = {
  'deploy/helm/reeve/Chart.yaml': /^(version: |appVersion: ")[^"\n]+/gm,
  'clients/python/src/reeve/_version.py': /^(__version__ = ")[^"\n]+/gm,
};

/** A text with another version in the lines that name one. */
export function textWithVersion(path: string, text: string, version: string): string {
  const lines = elsewhere[path];
  if (lines === undefined || text.search(lines) === -1) throw new Error(`${path} does not name the version`);
  return text.replaceAll(lines, `$1${version}`);
}

/** The files that name the version, with another one in them. */
export function filesWithVersion(version: string): ReadonlyMap<string, string> {
  const manifests = [home, ...workspaces().map(({ path }) => path)].map((folder) => join(folder, 'package.json'));
  const lock = join(home, 'package-lock.json');
  const texts = Object.keys(elsewhere).map((path) => {
    const file = join(home, path);
    return [file, textWithVersion(path, readFileSync(file, 'utf8'), version)] as const;
  });
  return new Map([
    ...texts,
    ...manifests.map((path) => [path, manifestWithVersion(readFileSync(path, 'utf8'), version)] as const),
    [lock, lockWithVersion(readFileSync(lock, 'utf8'), version)],
  ]);
}

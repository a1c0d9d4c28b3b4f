// npm run build: JavaScript, source maps and declarations of every public package but the command, in its folder `dist`.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundleSdkAside } from './bundle-sdk.ts';
import { ownDeclarations } from './packages/own-declarations.ts';
import type { Workspace } from './packages/public-packages.ts';
import { home, publicPackages } from './packages/public-packages.ts';
import { publishedCode, publishedDeclarations } from './packages/published-code.ts';

/** Where the compiler writes all packages at once. */
const compiled = join(home, 'dist/build');

function compile(): void {
  rmSync(compiled, { recursive: true, force: true });
  const tsc = join(home, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: home, stdio: 'inherit' });
  if (status !== 0) throw new Error('the packages could not be compiled');
}

/** Makes the `dist` of a package. */
function place(one: Workspace): void {
  const dist = join(one.path, 'dist');
  rmSync(dist, { recursive: true, force: true });
  if (one.manifest.name !== '@reeve/sdk') return placeModules(one, dist);
  bundleSdkAside(dist);
  for (const [file, text] of ownDeclarations(one, compiled)) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    writeFileSync(join(dist, file), text);
  }
}

/** Puts the compiled files of a package into its `dist`, as deep as the sources stand in `src`. */
function placeModules({ folder, path, manifest }: Workspace, dist: string): void {
  const from = join(compiled, folder, 'src');
  for (const file of filesIn(from)) {
    const to = join(dist, file);
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(join(from, file), 'utf8');
    if (file.endsWith('.js.map')) writeFileSync(to, mapOf(text, join(path, 'src', file), to));
    else if (file.endsWith('.js')) writeFileSync(to, publishedCode(text, manifest.version));
    else writeFileSync(to, publishedDeclarations(text));
  }
  for (const file of filesIn(join(path, 'src')).filter((name) => name.endsWith('.mjs'))) {
    cpSync(join(path, 'src', file), join(dist, file));
  }
}

/** The map holds the source itself. Its name is the one that it has in the repository. */
function mapOf(text: string, source: string, to: string): string {
  const name = relative(dirname(to), source.replace(/\.js\.map$/, '.ts'));
  return JSON.stringify({ ...(JSON.parse(text) as object), sources: [name] });
}

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
}

/** The command has no entries that somebody could import. It is put together when it is packed. */
export function buildPackages(): void {
  compile();
  for (const one of publicPackages()) if (one.manifest.bin === undefined) place(one);
}

if (import.meta.main) buildPackages();

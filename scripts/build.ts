// npm run build: JavaScript, source maps and declarations of every public package, in its folder `dist`.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundleGrpcJsAside, withBundledGrpcJs } from './bundle-grpc-js.ts';
import { bundleSdkAside } from './bundle-sdk.ts';
import type { Workspace } from './packages/public-packages.ts';
import { home, publicPackages } from './packages/public-packages.ts';
import { publishedCode, publishedDeclarations } from './packages/published-code.ts';

/** Where the compiler writes all packages at once. */
export const compiled = join(home, 'dist/build');

function compile(): void {
  rmSync(compiled, { recursive: true, force: true });
  const tsc = join(home, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: home, stdio: 'inherit' });
  if (status !== 0) throw new Error('the packages could not be compiled');
}

/** Puts the compiled files of a package into its `dist`, as deep as the sources stand in `src`. */
function place({ folder, path, manifest }: Workspace): void {
  const dist = join(path, 'dist');
  const from = join(compiled, folder, 'src');
  rmSync(dist, { recursive: true, force: true });
  // The command has no entries, so nobody reads its declarations.
  const isRead = (file: string) => manifest.bin === undefined || !file.endsWith('.d.ts');
  const isBundled = manifest.name === '@reeve/sdk';
  if (isBundled) bundleSdkAside(dist);
  const isGateway = manifest.name === '@reeve/gateway';
  if (isGateway) bundleGrpcJsAside(dist);
  for (const file of filesIn(from).filter((name) => isRead(name) && !(isBundled && isCode(name)))) {
    const to = join(dist, file);
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(join(from, file), 'utf8');
    if (file.endsWith('.js.map')) writeFileSync(to, mapOf(text, join(path, 'src', file), to));
    else if (file.endsWith('.js')) {
      const code = publishedCode(text, manifest.version);
      writeFileSync(to, isGateway ? withBundledGrpcJs(file, code) : code);
    } else writeFileSync(to, publishedDeclarations(text));
  }
  for (const file of filesIn(join(path, 'src')).filter((name) => name.endsWith('.mjs'))) {
    cpSync(join(path, 'src', file), join(dist, file));
  }
}

function isCode(file: string): boolean {
  return file.endsWith('.js') || file.endsWith('.js.map');
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

export function buildPackages(): void {
  compile();
  for (const one of publicPackages()) place(one);
}

if (import.meta.main) buildPackages();

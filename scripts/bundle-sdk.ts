// The SDK in few files. To load a hundred modules takes an agent longer than Node's own start; to load one does not.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { licencesFile, licencesOf } from './packages/bundled-licences.ts';
import { readManifest } from './packages/public-packages.ts';

const home = join(import.meta.dirname, '..');
const sdk = join(home, 'packages/sdk');

/** The entries by the names of their files, as deep as they stand in the sources. */
function entries(): Record<string, string> {
  const targets = Object.values(readManifest(sdk).exports ?? {});
  return Object.fromEntries(targets.map((target) => [target.replace(/^\.\/src\/|\.ts$/g, ''), join(sdk, target)]));
}

/**
 * Writes the SDK and its adapters with all that they need, but for Node itself, as JavaScript for Node 20 and later. What
 * they share stands in a file of its own, so there is one of each class.
 */
export async function bundleSdk(folder: string): Promise<void> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  const options = { input: entries(), cwd: home, platform: 'node', transform: { target: 'node20' } } as const;
  await using bundle = await rolldown(options);
  const names = { entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js', keepNames: true };
  const { output } = await bundle.write({ dir: folder, sourcemap: true, ...names });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, licencesFile), licencesOf(modules));
}

/** The same in a process of its own, for callers that do not wait. */
export function bundleSdkAside(folder: string): void {
  const { status } = spawnSync(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the SDK could not be bundled');
}

if (import.meta.main) await bundleSdk(process.argv[2] ?? '');

// The SDK in one file. To load a hundred modules takes an agent longer than Node's own start; to load one does not.
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Rolldown } from 'vite';

const home = join(import.meta.dirname, '..');

/** Writes the SDK with all that it needs, but for Node itself, as JavaScript for Node 20 and later. */
export async function bundleSdk(file: string): Promise<void> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  const input = join(home, 'packages/sdk/src/index.ts');
  await using bundle = await rolldown({ input, cwd: home, platform: 'node', transform: { target: 'node20' } });
  await bundle.write({ dir: dirname(file), entryFileNames: basename(file), sourcemap: true, keepNames: true });
}

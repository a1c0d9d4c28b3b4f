// One bundle of the command and the gateway, for the tests that start hundreds of gateways: to load each module on its
// own takes more than half of a start.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Rolldown } from 'vite';
import { licencesFile, licencesOf } from './packages/bundled-licences.ts';

const home = join(import.meta.dirname, '..');
const entry = 'reeve.mjs';

/** As `packages/cli/bin/reeve.mjs` does it, with a cache of its own. */
const start = `import { createRequire, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
enableCompileCache(fileURLToPath(new URL('cache', import.meta.url)));
await createRequire(import.meta.url)('./main.cjs').main();
`;

/** Threads get their own entry in the bundle; data files are read where they are. */
const files: Rolldown.Plugin = {
  name: 'files',
  transform(code, id) {
    if (id.includes('/node_modules/') || !code.includes('import.meta')) return null;
    const rewritten = code.replaceAll(/new URL\('([^']+)', import\.meta\.url\)/g, (_, path: string) => {
      const file = new URL(path, pathToFileURL(id));
      if (!path.endsWith('.ts')) return `new URL('${file.href}')`;
      const fileName = path.replace(/\.ts$/, '.cjs');
      this.emitFile({ type: 'chunk', id: fileURLToPath(file), fileName });
      return `new URL('${fileName}', import.meta.url)`;
    });
    if (/import\.meta\.(?!url)/.test(rewritten))
      this.error(`the bundle cannot keep what this says of its place: ${id}`);
    // A path that is put together while it runs still starts at the source.
    const placed = rewritten.replaceAll(
      /(new URL\(`[^`]+`, )import\.meta\.url\)/g,
      (_, before: string) => `${before}'${pathToFileURL(id).href}')`,
    );
    return { code: placed, map: null };
  },
};

async function build(folder: string): Promise<void> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  const main = join(home, 'packages/cli/src/main.ts');
  await using bundle = await rolldown({ input: { main }, cwd: home, platform: 'node', plugins: [files] });
  // As modules of the older kind: an import of node:http loads all of fetch, and to link hundreds of modules takes time.
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs', keepNames: true };
  const { output } = await bundle.write({ dir: folder, format: 'cjs', dynamicImportInCjs: false, ...names });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, licencesFile), licencesOf(modules));
  writeFileSync(join(folder, entry), start);
}

/**
 * Returns the module to run in place of the command. It builds in a separate process, which gives back its memory, and
 * every time, which takes a second: so it is never older than the sources.
 */
export function bundleGateway(folder: string): string {
  const { status } = spawnSync(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the gateway could not be bundled');
  return join(folder, entry);
}

if (import.meta.main) await build(process.argv[2] ?? '');

// Bundles the command for the single executable: one script, and one for each thread that it starts.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Rolldown } from 'vite';
import { licencesOf } from '../packages/bundled-licences.ts';
import { home } from '../packages/public-packages.ts';

const inside = join(import.meta.dirname, 'inside');

/** What reads files beside the code, or starts it anew, does so in another way in the executable. */
const replaced: ReadonlyMap<string, string> = new Map([
  [join(home, 'packages/cli/src/shipped-files.ts'), join(inside, 'shipped-files.ts')],
  [join(home, 'packages/gateway/src/adapters/system/start-thread.ts'), join(inside, 'start-thread.ts')],
]);

/** Notes the threads that the code starts, and names them as the executable does. */
function placesOf(threads: Map<string, string>): Rolldown.Plugin {
  return {
    name: 'places',
    async resolveId(source, importer, options) {
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      return found === null ? null : (replaced.get(found.id) ?? found);
    },
    transform(code, id) {
      if (id.includes('/node_modules/') || !code.includes('import.meta')) return null;
      const rewritten = code.replaceAll(/new URL\('([^']+)\.ts', import\.meta\.url\)/g, (_, path: string) => {
        const name = basename(path);
        threads.set(name, fileURLToPath(new URL(`${path}.ts`, pathToFileURL(id))));
        return `new URL('thread:${name}')`;
      });
      // Modules of Node itself are there from any place.
      const rest = rewritten.replaceAll(/createRequire\(import\.meta\.url\)\('node:/g, '');
      if (rest.includes('import.meta')) this.error(`the executable has no place beside its code: ${id}`);
      return { code: rewritten, map: null };
    },
  };
}

/** Returns the modules that are in the script. */
async function bundle(input: string, to: string, threads: Map<string, string>): Promise<readonly string[]> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  await using made = await rolldown({ input, cwd: home, platform: 'node', plugins: [placesOf(threads)] });
  const { output } = await made.generate({
    format: 'cjs',
    codeSplitting: false,
    dynamicImportInCjs: false,
    keepNames: true,
  });
  const chunks = output.filter((one) => one.type === 'chunk');
  const [chunk] = chunks;
  if (chunk === undefined || chunks.length !== 1)
    throw new Error(`${input} is not one script: ${chunks.length} chunks`);
  writeFileSync(to, chunk.code);
  return chunk.moduleIds;
}

interface BundledCommand {
  readonly main: string;
  /** The scripts of the threads by name. */
  readonly threads: ReadonlyMap<string, string>;
  /** The licences of the packages that are inside. */
  readonly licences: string;
}

/** Writes the scripts into a folder. */
export async function bundleCommand(folder: string): Promise<BundledCommand> {
  const main = join(folder, 'main.cjs');
  const sources = new Map<string, string>();
  const modules = [...(await bundle(join(inside, 'main.ts'), main, sources))];
  const threads = new Map<string, string>();
  for (const [name, source] of sources) {
    const to = join(folder, `${name}.cjs`);
    modules.push(...(await bundle(source, to, new Map())));
    threads.set(name, to);
  }
  return { main, threads, licences: licencesOf(modules) };
}

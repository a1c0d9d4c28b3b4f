// The command with all that it needs but Node, in one folder: what npm installs, what the image holds, and what most tests
// start. One bundle takes the place of the sources and their packages: to load each module on its own takes more than half
// of a start, and four fifths of the space.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Rolldown } from 'vite';
import { licencesFile, licencesOf } from './packages/bundled-licences.ts';
import { home } from './packages/public-packages.ts';
import { shippedFolders } from './packages/shipped-folders.ts';

const command = join(home, 'packages/cli');

/** Threads get their own entry in the bundle, and what the code reads beside itself is beside the bundle. */
const files: Rolldown.Plugin = {
  name: 'files',
  transform(code, id) {
    if (id.includes('/node_modules/') || !code.includes('import.meta')) return null;
    const rewritten = code.replaceAll(/new URL\('([^']+)', import\.meta\.url\)/g, (whole, path: string) => {
      const file = join(fileURLToPath(new URL(path, pathToFileURL(id))));
      if (path.endsWith('.ts')) {
        const fileName = basename(path).replace(/\.ts$/, '.cjs');
        this.emitFile({ type: 'chunk', id: file, fileName });
        return `new URL('${fileName}', import.meta.url)`;
      }
      if (path.endsWith('.mjs')) {
        this.emitFile({ type: 'asset', fileName: basename(path), source: readFileSync(file) });
        return `new URL('${basename(path)}', import.meta.url)`;
      }
      if (file === join(command, '/')) return whole;
      const shipped = Object.entries(shippedFolders).find(([, folder]) => file === join(home, folder));
      if (shipped === undefined) this.error(`nothing puts ${file} beside the bundle, where ${id} would read it`);
      return `new URL('../${shipped[0]}', import.meta.url)`;
    });
    if (/import\.meta\.(?!url)|`, import\.meta/.test(rewritten))
      this.error(`the bundle cannot keep what this says of its place: ${id}`);
    return { code: rewritten, map: null };
  },
};

async function bundle(folder: string): Promise<void> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  const main = join(command, 'src/main.ts');
  await using made = await rolldown({ input: { main }, cwd: home, platform: 'node', plugins: [files] });
  // As modules of the older kind: an import of node:http loads all of fetch, and to link hundreds of modules takes time.
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs', keepNames: true };
  const { output } = await made.write({ dir: folder, format: 'cjs', dynamicImportInCjs: false, ...names });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, licencesFile), licencesOf(modules));
}

/** It stands in a text in which expressions are replaced when it is shown. */
const installHint =
  'Where that is not installed, "npx -p node-linux-${process.arch}@24 -p @reeve/cli reeve" brings one.';

/** The start of the command, which runs the bundle. */
function start(): string {
  const source = readFileSync(join(command, 'bin/reeve.mjs'), 'utf8');
  const built = source
    .replace("'../src/main.ts'", "'../dist/main.cjs'")
    .replace(/Run "npm install" in the repository[^\\]*/, () => installHint);
  if (!built.includes('dist/main.cjs') || !built.includes(installHint))
    throw new Error('bin/reeve.mjs has changed: say here what it starts when it is built');
  return built;
}

async function assemble(folder: string): Promise<void> {
  await bundle(join(folder, 'dist'));
  for (const [name, from] of Object.entries(shippedFolders)) {
    // Notes of builds stay behind. Folders such as that of a pack's cases do not.
    const isShipped = (path: string) => !basename(path).startsWith('.') || statSync(path).isDirectory();
    cpSync(join(home, from), join(folder, name), { recursive: true, filter: isShipped });
  }
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/reeve.mjs'), start(), { mode: 0o755 });
}

/**
 * Makes the folder and returns the module that starts the command. The dashboard must be built. This works in a separate
 * process, which gives back its memory.
 */
export function assembleCommand(folder: string): string {
  const { status } = spawnSync(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the command could not be bundled');
  return join(folder, 'bin/reeve.mjs');
}

if (import.meta.main) await assemble(process.argv[2] ?? '');

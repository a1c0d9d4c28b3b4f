// Builds the dashboard if it is out of date: a hash of all inputs is kept beside the result.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { licencesFile, licencesOf } from './packages/bundled-licences.ts';

const home = join(import.meta.dirname, '..');
const dashboard = join(home, 'packages/dashboard');
const dist = join(dashboard, 'dist');
const stamp = '.inputs';

const inputs = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json']
  .map((path) => join(dashboard, path))
  .concat(join(home, 'packages/cli/starter'), join(home, 'packages/cli/packs'))
  .concat(join(home, 'packages/contract/src'), join(home, 'package-lock.json'), import.meta.filename);

/** The limit for what the first page loads before it can show anything, compressed. */
const largestEntryBytes = 250_000;

function* filesIn(path: string): Generator<string> {
  if (!statSync(path).isDirectory()) yield path;
  else for (const name of readdirSync(path).toSorted()) yield* filesIn(join(path, name));
}

function hashOfInputs(): string {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((path) => [...filesIn(path)])) {
    if (/\.test\.tsx?$/.test(file)) continue;
    hash.update(file.slice(home.length)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function builtFrom(): string | undefined {
  try {
    return readFileSync(join(dist, stamp), 'utf8');
  } catch {
    return undefined;
  }
}

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

/** The size of the page's script and all its static imports. Lazy parts do not count. */
function entryBytes(folder: string): number {
  const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
  const seen = new Set<string>();
  const visit = (name: string): number => {
    const chunk = manifest[name];
    if (chunk === undefined || seen.has(name)) return 0;
    seen.add(name);
    const own = gzipSync(readFileSync(join(folder, chunk.file)), { level: 9 }).length;
    return (chunk.imports ?? []).reduce((sum, imported) => sum + visit(imported), own);
  };
  return Object.entries(manifest)
    .filter(([, { isEntry }]) => isEntry === true)
    .reduce((sum, [name]) => sum + visit(name), 0);
}

/** Notes the modules that are in the scripts. */
function noting(modules: Set<string>): Plugin {
  return {
    name: 'noting',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') for (const id of file.moduleIds) modules.add(id);
      }
    },
  };
}

/**
 * Builds in another folder and moves the result into place at once, so that a starting gateway reads either the old or
 * the new one.
 */
async function build(hash: string): Promise<void> {
  const aside = join(home, 'node_modules/.cache', `reeve-dashboard-${process.pid}`);
  try {
    process.env['NODE_ENV'] = 'production';
    const { build: viteBuild } = await import('vite');
    const configFile = join(dashboard, 'vite.config.ts');
    // Tailwind's styles come by its plugin, and not as modules.
    const modules = new Set([join(home, 'node_modules/tailwindcss/index.css')]);
    await viteBuild({
      configFile,
      plugins: [noting(modules)],
      // What a worker runs is bundled by itself.
      worker: { plugins: () => [noting(modules)] },
      logLevel: 'silent',
      build: { outDir: aside },
    });
    writeFileSync(join(aside, licencesFile), licencesOf(modules));
    const bytes = entryBytes(aside);
    if (bytes > largestEntryBytes) {
      throw new Error(`the entry script is ${bytes} bytes gzipped, over ${largestEntryBytes}: load more of it lazily`);
    }
    rmSync(join(aside, '.vite'), { recursive: true });
    writeFileSync(join(aside, stamp), hash);
    const before = `${aside}-before`;
    mkdirSync(dist, { recursive: true });
    renameSync(dist, before);
    renameSync(aside, dist);
    rmSync(before, { recursive: true, force: true });
    process.stderr.write(`dashboard built: ${Math.round(bytes / 1000)} kB of script before lazy parts\n`);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/**
 * Does nothing if nothing has changed. It builds in a separate process, because settings of a test runner would end up
 * in the result.
 */
export function buildDashboard(): void {
  if (builtFrom() === hashOfInputs()) return;
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(process.execPath, [import.meta.filename], { stdio: 'inherit', env });
  if (status !== 0) throw new Error('the dashboard could not be built');
}

if (import.meta.main) {
  try {
    const hash = hashOfInputs();
    if (builtFrom() !== hash) await build(hash);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // Without development dependencies, the install succeeds and the gateway has no dashboard.
    if (isMissing(error))
      process.stderr.write(`the dashboard is not built, as its build tools are not installed: ${why}\n`);
    else {
      process.stderr.write(`the dashboard could not be built: ${why}\n`);
      process.exitCode = 1;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

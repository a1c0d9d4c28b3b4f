import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A program of others, or what to do to get it. */
export type Tool = { readonly path: string; readonly version: string } | { readonly missing: string };

const run = promisify(execFile);

export const cacheFolder = resolve('node_modules/.cache/reeve-conformance');

/** Large programs take some minutes, on a busy machine many. */
const longestBuildMs = 45 * 60_000;

/** Builds a Go program once. `module` is what its version is said of. */
export async function goTool(program: string, module: string, say: (line: string) => void): Promise<Tool> {
  const path = join(cacheFolder, program.split('/').at(-1) ?? program);
  try {
    if (!existsSync(path)) {
      say(`building ${program}, which takes a minute or two`);
      mkdirSync(cacheFolder, { recursive: true });
      await run('go', ['install', `${program}@latest`], { env: { ...process.env, GOBIN: cacheFolder } });
    }
    const { stdout } = await run('go', ['version', '-m', path]);
    const version = stdout.split('\n').find((line) => line.includes(`\t${module}\t`));
    return { path, version: version?.split('\t')[3] ?? 'unknown version' };
  } catch (error) {
    return { missing: `${program} could not be built: ${whyOf(error)}. Install Go (https://go.dev/dl) and run again.` };
  }
}

/**
 * Builds programs of a Go module once, in this version, by the module's own list of what it needs. The path is the folder
 * that they are in.
 */
export async function goModule(
  module: string,
  version: string,
  programs: readonly string[],
  say: (line: string) => void,
): Promise<Tool> {
  const folder = join(cacheFolder, module.replaceAll('/', '-'));
  try {
    if (!existsSync(join(folder, 'ready'))) {
      say(`building ${programs.join(' and ')} of ${module}, which takes some minutes`);
      const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`], { cwd: tmpdir() });
      const { Dir: source } = JSON.parse(stdout) as { Dir: string };
      // The copy in the cache of Go cannot be written to, and Go builds in no folder like that.
      cpSync(source, join(folder, 'source'), { recursive: true });
      await run('chmod', ['-R', 'u+w', join(folder, 'source')]);
      const packages = programs.map((program) => `./cmd/${program}`);
      await run('go', ['build', '-ldflags', '-s -w', '-o', `${folder}/`, ...packages], {
        cwd: join(folder, 'source'),
        timeout: longestBuildMs,
      });
      rmSync(join(folder, 'source'), { recursive: true });
      mkdirSync(join(folder, 'ready'));
    }
    return { path: folder, version };
  } catch (error) {
    return { missing: `${module} could not be built: ${whyOf(error)}. Install Go (https://go.dev/dl) and run again.` };
  }
}

/** Builds a Go program of this repository; Go sees by itself whether there is anything to do. */
export async function goProgram(folder: string, program: string, say: (line: string) => void): Promise<Tool> {
  const path = join(cacheFolder, program);
  try {
    if (!existsSync(path)) say(`building ${program}, which takes a minute or two`);
    mkdirSync(cacheFolder, { recursive: true });
    await run('go', ['build', '-o', path, '.'], { cwd: folder });
    return { path, version: 'of this repository' };
  } catch (error) {
    return { missing: `${program} could not be built: ${whyOf(error)}. Install Go (https://go.dev/dl) and run again.` };
  }
}

/** A Python of its own with these packages, installed once. The version is that of the first one. */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  say: (line: string) => void,
): Promise<Tool> {
  const folder = join(cacheFolder, `python-${name}`);
  const path = join(folder, 'bin', 'python');
  const shown = packages.join(' and ');
  try {
    if (!existsSync(join(folder, 'ready'))) {
      say(`installing ${shown} for Python`);
      await run('python3', ['-m', 'venv', folder]);
      await run(path, ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', ...packages]);
      mkdirSync(join(folder, 'ready'));
    }
    const { stdout } = await run(path, ['-m', 'pip', 'show', packages[0]?.split('==')[0] ?? '']);
    return { path, version: /^Version: (.*)$/m.exec(stdout)?.[1] ?? 'unknown version' };
  } catch (error) {
    return {
      missing: `${shown} could not be installed: ${whyOf(error)}. Install Python 3 with venv and pip and run again.`,
    };
  }
}

/** Builds a Rust program of this repository; Cargo sees by itself whether there is anything to do. */
export async function cargoTool(folder: string, program: string, say: (line: string) => void): Promise<Tool> {
  const target = join(cacheFolder, 'cargo');
  try {
    if (!existsSync(target)) say(`building ${program}, which takes a minute or two`);
    await run('cargo', ['build', '--locked', '--quiet', '--target-dir', target], { cwd: folder });
    const { stdout } = await run('cargo', ['tree', '--locked', '--depth', '1', '--prefix', 'none'], { cwd: folder });
    const version = /^tonic v(\S+)/m.exec(stdout)?.[1] ?? 'unknown version';
    return { path: join(target, 'debug', program), version };
  } catch (error) {
    return {
      missing: `${program} could not be built: ${whyOf(error)}. Install Rust (https://rustup.rs) and run again.`,
    };
  }
}

export function whyOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'path' in error) {
    return `${String(error.path)} is not on the PATH`;
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n').at(-1) ?? text;
}

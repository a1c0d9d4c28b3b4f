import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const forTests = 'clients/python/requirements-dev.txt';
/** Pins the frameworks of agents and all that they need. */
export const forFrameworks = 'clients/python/requirements-adapters.txt';
const cache = resolve('node_modules/.cache/reeve-python');
const versionProgram = 'import sys; print("%d.%d.%d" % sys.version_info[:3]); sys.exit(sys.version_info < (3, 10))';

/** An interpreter with everything that is pinned in the requirements, or why there is none. */
export type PythonEnvironment = { readonly python: string } | { readonly missing: string };

/** Makes the environment once for each interpreter and each version of the requirements. */
export function pythonEnvironment(requirements = forTests): PythonEnvironment {
  const version = spawnSync('python3', ['-c', versionProgram], { encoding: 'utf8' });
  if (version.error !== undefined || version.status !== 0) return { missing: 'python3 of version 3.10 or newer' };
  const hash = createHash('sha256').update(version.stdout).update(readFileSync(requirements));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  const python = join(folder, 'bin', 'python');
  if (existsSync(python)) return { python };
  const scratch = `${folder}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  try {
    install(scratch, requirements);
    // Nobody ever sees half an environment. Another run may have been faster.
    if (!existsSync(folder)) renameSync(scratch, folder);
    return { python };
  } catch (error) {
    const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    return { missing: `an environment for python3 with ${requirements} (${why})` };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Debian has pip and venv in packages of their own, and any of them may be missing. */
function install(folder: string, requirements: string): void {
  const python = join(folder, 'bin', 'python');
  const wanted = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  if (succeeds('python3', ['-m', 'venv', folder])) return run(python, ['-m', 'pip', ...wanted]);
  rmSync(folder, { recursive: true, force: true });
  if (succeeds('python3', ['-m', 'venv', '--without-pip', folder])) {
    // The pip of the system installs into the environment.
    return run('python3', ['-m', 'pip', '--python', python, ...wanted, 'pip']);
  }
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'virtualenv', '--quiet', folder]);
  run(python, ['-m', 'pip', ...wanted]);
}

function succeeds(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

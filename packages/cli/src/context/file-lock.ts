import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';

const retryMs = 20;
const patienceMs = 8000;
/** Whoever holds the lock says so again and again, however long the work takes: it may wait for a person. */
const refreshMs = 2000;
const abandonedMs = 30_000;

/**
 * Runs work while holding a lock, which is a file. A lock that its process left behind is taken over. A process that was
 * halted may have lost its lock: `requireHeld` throws then.
 */
export async function withLock<Result>(
  path: string,
  work: (requireHeld: () => void) => Promise<Result>,
): Promise<Result> {
  const mark = `${process.pid} ${Math.random()}`;
  const started = performance.now();
  while (!take(path, mark)) {
    if (performance.now() - started >= patienceMs) {
      throw new CliError(`${path} is held by another command; remove it if there is none`);
    }
    clearIfAbandoned(path);
    await sleep(retryMs + Math.random() * retryMs);
  }
  const isHeld = () => holder(path)?.mark === mark;
  const refreshing = setInterval(() => refresh(path, isHeld), refreshMs).unref();
  try {
    return await work(() => {
      if (!isHeld()) throw new CliError(`${path} was taken over by another command meanwhile; try again`);
    });
  } finally {
    clearInterval(refreshing);
    if (isHeld()) rmSync(path, { force: true });
  }
}

function refresh(path: string, isHeld: () => boolean): void {
  const now = new Date();
  try {
    if (isHeld()) utimesSync(path, now, now);
  } catch {
    // It was taken over just now.
  }
}

function take(path: string, mark: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, mark);
    closeSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves the file aside first: if several processes find it abandoned, one succeeds. It checks the moved file again. */
function clearIfAbandoned(path: string): void {
  const found = holder(path);
  if (found === undefined || !found.isAbandoned) return;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (holder(aside)?.mark !== found.mark) renameSync(aside, path);
  } catch {
    // Another process was faster.
  } finally {
    rmSync(aside, { force: true });
  }
}

function holder(path: string): { mark: string; isAbandoned: boolean } | undefined {
  try {
    const mark = readFileSync(path, 'utf8');
    const age = Date.now() - statSync(path).mtimeMs;
    const pid = Number.parseInt(mark, 10);
    // An empty file is a lock that is being created right now.
    const isAbandoned = age > abandonedMs || (pid > 0 && !isAlive(pid));
    return { mark, isAbandoned };
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

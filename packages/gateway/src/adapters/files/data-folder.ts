import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withAdvice } from '../../explain-start.ts';
import { StartError } from '../../start-error.ts';

export interface DataFolder {
  readonly path: string;
  release(): void;
}

/**
 * Makes the data folder (0700) and locks it for this process alone. The operating system holds the lock on a small file
 * and releases it however the process ends, so no stale lock is left.
 */
export function takeDataFolder(path: string): DataFolder {
  const pidFile = join(path, 'gateway.pid');
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    lock = new DatabaseSync(join(path, 'gateway.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) {
      throw new StartError(
        `the data folder ${path} is in use by another gateway${holder(pidFile)}; stop it or choose another with --data`,
      );
    }
    throw new StartError(`cannot use the data folder ${path}: ${withAdvice(error)}`);
  }
  const held = lock;
  return { path, release: () => held.close() };
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return '';
  }
}

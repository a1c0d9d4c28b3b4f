import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export interface SqliteOptions {
  readonly path: string;
  /** `process`: a commit survives the end of the process. `power`: it survives a power failure, too. */
  readonly sync: 'process' | 'power';
}

/** The size that the file of the write-ahead log keeps. A busy gateway reaches it again and again. */
const longestWal = 192 * 1024 * 1024;
/** Truncating takes about a millisecond for each MiB, in which nothing else happens. */
const trimmedAtOnce = 8 * 1024 * 1024;

/** To what size a log of this size may be truncated when it begins anew. */
export function keptWal(walBytes: number): number {
  return Math.max(longestWal, walBytes - trimmedAtOnce);
}

const busy = 5;
const openingMs = 10_000;
const triedEveryMs = 5;

/**
 * Opens the file with a write-ahead log and passes it to `prepare`. A separate thread checkpoints the log. Until
 * `prepare` is done, it waits for other processes that do the same; afterwards it never waits, because that would block
 * the event loop. A failure leaves nothing open.
 */
export function openSqlite({ path, sync }: SqliteOptions, prepare: (db: DatabaseSync) => void): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: openingMs });
  try {
    useWriteAheadLog(db);
    db.exec(`
      PRAGMA synchronous = ${sync === 'power' ? 'FULL' : 'NORMAL'};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${keptWal(sizeOf(`${path}-wal`))};
      PRAGMA temp_store = MEMORY;
    `);
    prepare(db);
    db.exec('PRAGMA busy_timeout = 0');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** If two processes do this to a new file at once, SQLite refuses one of them without waiting. */
function useWriteAheadLog(db: DatabaseSync): void {
  const until = performance.now() + openingMs;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, triedEveryMs);
    }
  }
}

/** Whether an error says that another connection has the file locked. */
export function isBusy(error: unknown): boolean {
  return resultOf(error) === busy;
}

/** SQLite's result code of an error; 0 if it is not an error of SQLite. */
export function resultOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

/** Whether an error says that a file is not a database, or is damaged. */
export function isDamage(error: unknown): boolean {
  const result = resultOf(error);
  return result === damaged || result === noDatabase;
}

const damaged = 11;
const noDatabase = 26;

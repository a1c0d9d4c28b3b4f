import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointerData, FromCheckpointer, ToCheckpointer } from './wal-checkpointer.ts';

/**
 * Copies the write-ahead log into the database in a separate thread, which waits for the disk. The checkpoints are
 * passive: they never block the writer.
 *
 * SQLite begins the log anew only if a commit finds all of it copied. A busy writer adds to it while a checkpoint runs,
 * so the log of such a writer would grow without end. Readers that began before a checkpoint was complete are in the way,
 * too. Once the log is long, all are asked to wait for one short checkpoint.
 */
const { path, everyMs, mostFrames } = workerData as CheckpointerData;
let db: DatabaseSync | undefined;

/** While commits go on, the thread copies until a pass finds few new pages, and not for ever. */
const mostPasses = 5;
const fewFrames = 512;
/** If a reader keeps the log from beginning anew, asking again at once is of no use. */
const againMs = 500;
let pauseNotBefore = 0;
/** Whether the answer to a request is yet to come. */
let isAsking = false;

interface Copied {
  /** How many pages the log holds. */
  readonly frames: number;
  /** How many of them are in the database. */
  readonly copied: number;
}

function open(): DatabaseSync {
  const opened = new DatabaseSync(path);
  try {
    opened.exec('PRAGMA busy_timeout = 0');
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

function checkpoint(): Copied {
  db ??= open();
  const row = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  return { frames: Number(row?.['log'] ?? 0), copied: Number(row?.['checkpointed'] ?? 0) };
}

function tell(message: FromCheckpointer): void {
  parentPort?.postMessage(message);
}

let known: Copied = { frames: 0, copied: 0 };

function work(): void {
  const before = known;
  try {
    known = checkpoint();
  } finally {
    // Most of all where it cannot be copied, people have to know how long it is.
    tell({ walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0 });
  }
  if (known.frames < before.frames) pauseNotBefore = 0;
  if (isAsking) return;
  // If nobody has written, the next commit begins the log anew by itself.
  if (known.frames <= mostFrames || known.frames === before.frames || performance.now() < pauseNotBefore) return;
  isAsking = true;
  tell('rest');
}

/** Without readers, all but the last commits can be copied. Then the writer waits for little. */
function copyMost(): void {
  for (let pass = 0; pass < mostPasses; pass++) {
    const { copied } = known;
    known = checkpoint();
    if (known.copied - copied < fewFrames) break;
  }
}

let isFailing = false;

/** The next turn tries again what fails. */
function attempt(job: () => void): void {
  try {
    job();
    isFailing = false;
  } catch (error) {
    if (!isFailing) tell({ failedWith: String(error) });
    isFailing = true;
  }
}

const timer = setInterval(() => attempt(work), everyMs);

function askLater(): void {
  isAsking = false;
  pauseNotBefore = performance.now() + againMs;
}

parentPort?.on('message', (message: ToCheckpointer) => {
  switch (message) {
    case 'resting':
      attempt(copyMost);
      tell('pause');
      break;
    case 'paused':
      attempt(() => {
        known = checkpoint();
      });
      askLater();
      tell('go on');
      break;
    case 'not now':
      askLater();
      break;
    case 'end':
      clearInterval(timer);
      db?.close();
      parentPort?.close();
      break;
  }
});

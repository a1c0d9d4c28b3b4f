import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Copies the write-ahead log into the database in a separate thread, which waits for the disk. The checkpoints are
 * passive: they never block the writer.
 */
const { path, everyMs } = workerData as { path: string; everyMs: number };
let db: DatabaseSync | undefined;

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

const timer = setInterval(() => {
  try {
    db ??= open();
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // The writer reports a full or missing disk; the next turn tries again.
  }
}, everyMs);

parentPort?.once('message', () => {
  clearInterval(timer);
  db?.close();
  parentPort?.close();
});

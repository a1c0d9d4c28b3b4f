import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Copies the write-ahead log into the database, with its waits for the disk, in a thread of its own. Passive: it never
 * makes the writer wait.
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
    // A disk that is full or gone shows at the writer, which says so; the next turn tries again.
  }
}, everyMs);

parentPort?.once('message', () => {
  clearInterval(timer);
  db?.close();
  parentPort?.close();
});

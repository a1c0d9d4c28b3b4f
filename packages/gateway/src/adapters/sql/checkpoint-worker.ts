import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Copies the write-ahead log into the database, with its waits for the disk, in a thread of its own. Passive: it never
 * makes the writer wait.
 */
const { path, everyMs } = workerData as { path: string; everyMs: number };
const db = new DatabaseSync(path);
db.exec('PRAGMA busy_timeout = 0');
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');

const timer = setInterval(() => {
  try {
    checkpoint.all();
  } catch {
    // A disk that is full or gone shows at the writer, which says so; the next turn tries again.
  }
}, everyMs);

parentPort?.once('message', () => {
  clearInterval(timer);
  db.close();
  parentPort?.close();
});

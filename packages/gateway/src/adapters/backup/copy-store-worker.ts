import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { withAdvice } from '../../explain-start.ts';

/** What a copy of the store holds, or why there is none. */
export type CopyAnswer = { readonly facts: StoreFacts } | { readonly error: string };

export interface StoreFacts {
  readonly schemaVersion: number;
  readonly head: { readonly seq: number; readonly hash: string };
  readonly entries: number;
  readonly bytes: number;
  readonly sha256: string;
}

const openingMs = 10_000;
const pieceBytes = 1024 * 1024;

/**
 * Copies the store in a separate thread, as it is at one moment. Decisions go on meanwhile: a reader blocks no writer.
 * The copy leaves out what was deleted, and what is still in the write-ahead log is in it.
 */
function copy({ path, copyPath }: { readonly path: string; readonly copyPath: string }): StoreFacts {
  const source = new DatabaseSync(path, { timeout: openingMs });
  try {
    source.prepare('VACUUM INTO ?').run(copyPath);
  } finally {
    source.close();
  }
  using db = new DatabaseSync(copyPath, { readOnly: true });
  const newest = db.prepare('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1').get();
  const head = newest === undefined ? { seq: 0, hash: '0'.repeat(64) } : (newest as unknown as StoreFacts['head']);
  return {
    schemaVersion: Number(db.prepare('PRAGMA user_version').get()?.['user_version']),
    head: { seq: head.seq, hash: head.hash },
    entries: Number(db.prepare('SELECT count(*) AS n FROM audit').get()?.['n']),
    ...digestOf(copyPath),
  };
}

function digestOf(path: string): Pick<StoreFacts, 'bytes' | 'sha256'> {
  const digest = createHash('sha256');
  const piece = Buffer.alloc(pieceBytes);
  const file = openSync(path, 'r');
  try {
    let bytes = 0;
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      digest.update(piece.subarray(0, read));
      bytes += read;
    }
    return { bytes, sha256: digest.digest('hex') };
  } finally {
    closeSync(file);
  }
}

function answer(): CopyAnswer {
  try {
    return { facts: copy(workerData as { path: string; copyPath: string }) };
  } catch (error) {
    return { error: withAdvice(error) };
  }
}

parentPort?.postMessage(answer());

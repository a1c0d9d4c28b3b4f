import type { EntryRecord, PackedBlock } from './log-block.ts';
import { packBlock, recordOf } from './log-block.ts';
import type { StoredLog } from './stored-log.ts';
import { DamagedEntries } from './unreadable-entry.ts';

type Run = (sql: string, ...values: (number | Uint8Array)[]) => number;

/** Entries of a block that are no longer all there as rows. */
export class RowsGone extends Error {
  constructor({ firstSeq, lastSeq }: Pick<PackedBlock, 'firstSeq' | 'lastSeq'>) {
    super(`the entries ${firstSeq} to ${lastSeq} are not all there`);
  }
}

/** Writes blocks of the log. Whoever calls it has begun a transaction, so each step happens as a whole or not at all. */
export class BlockWriter {
  readonly #log: StoredLog;
  readonly #run: Run;

  constructor(log: StoredLog, run: Run) {
    this.#log = log;
    this.#run = run;
  }

  /** Puts a block in the place of its rows. Throws if they are not all there. */
  replaceRows(block: PackedBlock): void {
    const removed = this.#run('DELETE FROM audit WHERE seq BETWEEN ? AND ?', block.firstSeq, block.lastSeq);
    if (removed !== block.lastSeq - block.firstSeq + 1) throw new RowsGone(block);
    this.#insert(block);
  }

  /** Removes entries up to this one. A block that holds others as well is written again without them. */
  removeThrough(seq: number): void {
    const place = this.#log.blockOf(seq);
    const isCut = place !== undefined && place.lastSeq > seq;
    this.#run('DELETE FROM audit_blocks WHERE first_seq < ?', isCut ? place.firstSeq : seq + 1);
    if (!isCut) return;
    try {
      const rest: EntryRecord[] = [];
      for (let at = seq + 1; at <= place.lastSeq; at++) rest.push(recordOf(this.#log.packed(place, at)));
      this.#run('DELETE FROM audit_blocks WHERE first_seq = ?', place.firstSeq);
      this.#insert(packBlock(rest));
    } catch (error) {
      if (!(error instanceof DamagedEntries)) throw error;
      // What cannot be read cannot be written again. It counts as removed, and its bytes go with the last of the block,
      // which a repaired file may still have.
      this.#run('UPDATE audit_blocks SET first_seq = ? WHERE first_seq = ?', seq + 1, place.firstSeq);
    }
  }

  #insert({ firstSeq, lastSeq, minAt, maxAt, entries }: PackedBlock): void {
    const sql = 'INSERT INTO audit_blocks (first_seq, last_seq, min_at, max_at, entries) VALUES (?, ?, ?, ?, ?)';
    this.#run(sql, firstSeq, lastSeq, minAt, maxAt, entries);
  }
}

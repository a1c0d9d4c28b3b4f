import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AuditQuery, Row, StoredEntry } from '@reeve/core';
import { numberIn, ReadEntry, textIn } from '@reeve/core';
import type { PackedEntry } from './log-block.ts';
import { isOfBytes, LogBlock } from './log-block.ts';
import { isDamage } from './open-sqlite.ts';
import { eachValues } from './sqlite-table.ts';
import { DamagedEntries, unreadableEntry } from './unreadable-entry.ts';

/** Blocks that were just read are kept up to this many bytes: the next page begins where this one has ended. */
const mostKeptBytes = 16 * 1024 * 1024;

/** A block by its place. Its bytes are read when somebody wants an entry of it. */
export interface BlockPlace {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly minAt: number;
  readonly maxAt: number;
}

/**
 * Nothing of a place is believed beyond where the next block, or the first row, begins: whoever changes the file must not
 * make a block endless, or hide others.
 */
const places = `SELECT first_seq, min_at, max_at, min(last_seq, coalesce(
    (SELECT min(n.first_seq) FROM audit_blocks n WHERE n.first_seq > b.first_seq), (SELECT min(seq) FROM audit), last_seq + 1
  ) - 1) AS last_seq FROM audit_blocks b`;

/**
 * The log in the file of an embedded store: its newest entries are rows, older ones are packed into blocks. This is the
 * one place that reads both.
 */
export class StoredLog {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** By their first entries. Those used last come last. */
  readonly #kept = new Map<number, LogBlock | DamagedEntries>();
  #keptBytes = 0;
  /** A file of an earlier release, which nobody has migrated yet, has none. */
  readonly #hasBlocks: boolean;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#hasBlocks = this.#one(`SELECT 1 FROM sqlite_schema WHERE name = 'audit_blocks'`) !== undefined;
  }

  /** The last entry that is packed, or 0. All entries after it are rows. */
  packedThrough(): number {
    return this.#lastBlock()?.lastSeq ?? 0;
  }

  oldestSeq(): number | undefined {
    const packed = this.#hasBlocks ? seqIn(this.#one('SELECT min(first_seq) AS seq FROM audit_blocks')) : undefined;
    return packed ?? seqIn(this.#one('SELECT min(seq) AS seq FROM audit'));
  }

  newestSeq(): number | undefined {
    return seqIn(this.#one('SELECT max(seq) AS seq FROM audit')) ?? this.#lastBlock()?.lastSeq;
  }

  newest(): StoredEntry | undefined {
    const seq = this.newestSeq();
    return seq === undefined ? undefined : this.entry(seq);
  }

  /** When the newest entry was made. */
  newestAt(): number | undefined {
    const at = this.#one('SELECT at FROM audit ORDER BY seq DESC LIMIT 1')?.['at'];
    return typeof at === 'number' ? at : this.#lastBlock()?.maxAt;
  }

  /** How many entries there are. */
  count(): number {
    const rows = numberIn(this.#one('SELECT count(*) AS n FROM audit') ?? {}, 'n');
    if (!this.#hasBlocks) return rows;
    const sql = 'SELECT COALESCE(sum(last_seq - first_seq + 1), 0) AS n FROM audit_blocks';
    return rows + numberIn(this.#one(sql) ?? {}, 'n');
  }

  entry(seq: number): StoredEntry | undefined {
    const row = this.#one('SELECT seq, hash, canonical FROM audit WHERE seq = ?', seq);
    if (row !== undefined) return new ReadEntry(seq, textIn(row, 'hash'), textIn(row, 'canonical'));
    const place = this.blockOf(seq);
    return place === undefined ? undefined : this.stored(place, seq);
  }

  /** All entries after this one, oldest first. What cannot be read is there as an entry that says so. */
  *after(seq: number): Generator<StoredEntry> {
    let last = seq;
    for (const place of this.blocks(seq + 1, Number.MAX_SAFE_INTEGER, false)) {
      for (let at = Math.max(seq + 1, place.firstSeq); at <= place.lastSeq; at++) yield this.stored(place, at);
      last = Math.max(last, place.lastSeq);
    }
    const rows = this.#db.prepare('SELECT seq, hash, canonical FROM audit WHERE seq > ? ORDER BY seq');
    for (const [at, hash, canonical] of eachValues<[number, string, string]>(rows, last)) {
      yield new ReadEntry(at, hash, canonical);
    }
  }

  /** The blocks that hold entries of a stretch, but for those that lie outside of these times. */
  *blocks(
    low: number,
    high: number,
    newestFirst: boolean,
    times: Pick<AuditQuery, 'from' | 'to'> = {},
  ): Generator<BlockPlace> {
    if (!this.#hasBlocks || low > high) return;
    const sql = `${places} WHERE first_seq BETWEEN ? AND ? AND max_at >= ? AND min_at < ?
      ORDER BY first_seq ${newestFirst ? 'DESC' : 'ASC'}`;
    const from = this.blockOf(low)?.firstSeq ?? low;
    const { from: since = Number.MIN_SAFE_INTEGER, to: until = Number.MAX_SAFE_INTEGER } = times;
    for (const row of this.#db.prepare(sql).iterate(from, high, since, until)) yield placeIn(row);
  }

  blockOf(seq: number): BlockPlace | undefined {
    if (!this.#hasBlocks) return undefined;
    const row = this.#one(`${places} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`, seq);
    const place = row === undefined ? undefined : placeIn(row);
    return place === undefined || place.lastSeq < seq ? undefined : place;
  }

  /** An entry of a block with all columns. Throws `DamagedEntries` if it cannot be read. */
  packed(place: BlockPlace, seq: number): PackedEntry {
    const entry = this.#open(place).entry(seq);
    const { firstSeq, lastSeq, minAt, maxAt } = place;
    if (entry === undefined || entry.at < minAt || entry.at > maxAt) throw new DamagedEntries(firstSeq, lastSeq);
    return entry;
  }

  /** An entry of a block. What cannot be read is there as an entry that says so. */
  stored(place: BlockPlace, seq: number): StoredEntry {
    try {
      const { hash, canonical } = this.packed(place, seq);
      return new ReadEntry(seq, hash, canonical);
    } catch (error) {
      if (error instanceof DamagedEntries) return unreadableEntry(seq, place.minAt, error);
      throw error;
    }
  }

  #open(place: BlockPlace): LogBlock {
    const { firstSeq } = place;
    let block = this.#kept.get(firstSeq);
    if (block === undefined) {
      block = this.#opened(place);
      this.#keptBytes += block.bytes;
    }
    this.#kept.delete(firstSeq);
    this.#kept.set(firstSeq, block);
    for (const [first, oldest] of this.#kept) {
      if (this.#keptBytes <= mostKeptBytes || oldest === block) break;
      this.#kept.delete(first);
      this.#keptBytes -= oldest.bytes;
    }
    if (block instanceof DamagedEntries) throw block;
    return block;
  }

  /** A block, or that it is damaged: its bytes, its place, or the pages of the file that hold them. */
  #opened({ firstSeq, lastSeq }: BlockPlace): LogBlock | DamagedEntries {
    try {
      const block = new LogBlock({ firstSeq, lastSeq, entries: this.#bytesOf(firstSeq) });
      // Retention removes from the beginning of the log alone.
      if (block.removed > 0 && this.oldestSeq() !== firstSeq) throw new SyntaxError('it begins with another entry');
      return block;
    } catch (error) {
      if (!isOfBytes(error) && !isDamage(error)) throw error;
      return new DamagedEntries(firstSeq, lastSeq, { cause: error });
    }
  }

  #bytesOf(firstSeq: number): Uint8Array {
    const entries = this.#one('SELECT entries FROM audit_blocks WHERE first_seq = ?', firstSeq)?.['entries'];
    if (!(entries instanceof Uint8Array)) throw new SyntaxError('it has no bytes');
    return entries;
  }

  #lastBlock(): BlockPlace | undefined {
    if (!this.#hasBlocks) return undefined;
    const row = this.#one(`${places} ORDER BY first_seq DESC LIMIT 1`);
    return row === undefined ? undefined : placeIn(row);
  }

  #one(sql: string, ...values: number[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function placeIn(row: Row): BlockPlace {
  return {
    firstSeq: numberIn(row, 'first_seq'),
    lastSeq: numberIn(row, 'last_seq'),
    minAt: numberIn(row, 'min_at'),
    maxAt: numberIn(row, 'max_at'),
  };
}

function seqIn(row: Row | undefined): number | undefined {
  const seq = row?.['seq'];
  return typeof seq === 'number' ? seq : undefined;
}

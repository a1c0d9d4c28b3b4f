import type { DatabaseSync } from 'node:sqlite';
import type { AuditQuery, StoredEntry } from '@reeve/core';
import { asksForAll, fitsQuery, ReadEntry } from '@reeve/core';
import type { Index, Part } from './audit-query.ts';
import type { LogDirectory } from './log-directory.ts';
import type { LookedAtPart } from './people-query.ts';
import { lookedAtColumns, lookedAtNames } from './people-select.ts';
import type { BlockPlace, StoredLog } from './stored-log.ts';
import { DamagedEntries } from './unreadable-entry.ts';

type Times = Pick<AuditQuery, 'from' | 'to'>;

/** So many blocks are opened for one page, of entries or of people. Whoever finds little goes on from there, and others come between. */
const mostBlocks = 1000;

/** A page has looked far enough, up to this entry. */
export class LookedFarEnough extends Error {
  readonly at: number;

  constructor(at: number) {
    super(`a page looks at no more than ${mostBlocks} blocks`);
    this.at = at;
  }
}

/** A packed entry by its place. */
type Place = readonly [block: BlockPlace, seq: number];

/** Finds packed entries, on the connection of the indexes. */
export class PackedReader {
  readonly #db: DatabaseSync;
  readonly #log: StoredLog;
  readonly #directory: LogDirectory;
  readonly #mostBlocks: number;

  constructor(db: DatabaseSync, log: StoredLog, directory: LogDirectory, most = mostBlocks) {
    this.#db = db;
    this.#log = log;
    this.#directory = directory;
    db.exec(`CREATE TEMP TABLE IF NOT EXISTS looked_at (${lookedAtNames.join(', ')})`);
    this.#mostBlocks = most;
  }

  /**
   * The entries of these parts that a query asks for. Whoever asks for all of them is told of each that cannot be read.
   * Nobody knows whether such an entry fits a narrower query, so that one throws `DamagedEntries`. One that finds little
   * throws `LookedFarEnough`.
   */
  *find(query: AuditQuery, parts: readonly Part[], newestFirst: boolean): Generator<StoredEntry> {
    const isForAll = asksForAll(query);
    let opened = 0;
    let last: { readonly block: number; readonly seq: number } | undefined;
    for (const part of parts) {
      for (const [block, seq] of this.#places(part, newestFirst, query)) {
        if (last?.block !== block.firstSeq && ++opened > this.#mostBlocks) throw new LookedFarEnough(last?.seq ?? seq);
        last = { block: block.firstSeq, seq };
        const entry = isForAll ? undefined : this.#log.packed(block, seq);
        if (entry === undefined) yield this.#log.stored(block, seq);
        else if (fitsQuery(entry, query)) yield new ReadEntry(seq, entry.hash, entry.canonical);
      }
    }
  }

  /**
   * Puts those of these entries that are packed, or named by an index, where `lookedAtSql` finds them, newest first. Returns
   * whether it left older ones out because they are in further blocks.
   */
  lookAt(parts: readonly LookedAtPart[], packed: number, mostOpened = this.#mostBlocks): boolean {
    this.#db.exec('DELETE FROM temp.looked_at');
    const insert = this.#db.prepare(`INSERT INTO temp.looked_at VALUES (${lookedAtNames.map(() => '?').join(', ')})`);
    const opened = new Set<number>();
    for (const part of parts) {
      let left = part.most - this.#lookAtRows(part, packed);
      for (const [block, seq] of this.#places({ ...part, high: Math.min(part.high, packed) }, true, {})) {
        if (left-- <= 0) break;
        if (opened.add(block.firstSeq).size > mostOpened) return true;
        const entry = this.#log.packed(block, seq);
        insert.run(...lookedAtNames.map((name) => entry[name]));
      }
    }
    return false;
  }

  /** Returns how many of the entries that an index names are rows. A stretch without an index is bounded by itself. */
  #lookAtRows({ index, low, high, most }: LookedAtPart, packed: number): number {
    if (index === undefined) return 0;
    const insert = this.#db.prepare(
      `INSERT INTO temp.looked_at SELECT ${lookedAtColumns} FROM main.audit a WHERE a.seq = ?`,
    );
    let found = 0;
    for (const seq of this.#directory.named(index, Math.max(low, packed + 1), high, true)) {
      if (found === most) break;
      found += Number(insert.run(seq).changes);
    }
    return found;
  }

  /** Adds entries after those in the directory, about `most`, as far as it has room for them. */
  index(most: number): void {
    const after = this.#directory.through;
    for (const block of this.#log.blocks(after + 1, Number.MAX_SAFE_INTEGER, false)) {
      if (this.#directory.through - after >= most) return;
      try {
        for (let seq = Math.max(after + 1, block.firstSeq); seq <= block.lastSeq; seq++) {
          if (!this.#directory.offer(this.#log.packed(block, seq))) return;
        }
      } catch (error) {
        if (!(error instanceof DamagedEntries)) throw error;
        if (!this.#directory.offerDamaged(block)) return;
      }
    }
  }

  *#places(part: Part, newestFirst: boolean, times: Times): Generator<Place> {
    if (part.low > part.high) return;
    if (part.index === undefined) yield* this.#stretch(part, newestFirst, times);
    else yield* this.#named(part, part.index, newestFirst, times);
  }

  *#stretch({ low, high }: Part, newestFirst: boolean, times: Times): Generator<Place> {
    for (const block of this.#log.blocks(low, high, newestFirst, times)) {
      const first = Math.max(low, block.firstSeq);
      const last = Math.min(high, block.lastSeq);
      for (let at = 0; at <= last - first; at++) yield [block, newestFirst ? last - at : first + at];
    }
  }

  *#named({ low, high }: Part, index: Index, newestFirst: boolean, { from, to }: Times): Generator<Place> {
    let block: BlockPlace | undefined;
    for (const seq of this.#directory.named(index, low, high, newestFirst)) {
      if (block === undefined || seq < block.firstSeq || seq > block.lastSeq) block = this.#log.blockOf(seq);
      if (block === undefined) throw new DamagedEntries(seq, seq);
      if (block.maxAt >= (from ?? block.maxAt) && block.minAt < (to ?? Number.POSITIVE_INFINITY)) yield [block, seq];
    }
  }
}

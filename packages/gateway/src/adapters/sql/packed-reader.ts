import type { DatabaseSync } from 'node:sqlite';
import type { AuditQuery, StoredEntry } from '@reeve/core';
import { asksForAll, fitsQuery, numberIn, ReadEntry } from '@reeve/core';
import type { Index, Part } from './audit-query.ts';
import type { PackedEntry } from './log-block.ts';
import type { LookedAtPart } from './people-query.ts';
import { lookedAtNames } from './people-select.ts';
import type { BlockPlace, StoredLog } from './stored-log.ts';
import { DamagedEntries } from './unreadable-entry.ts';

type Times = Pick<AuditQuery, 'from' | 'to'>;
type Name = keyof PackedEntry;

/** What is indexed of an entry. */
export const stepNames = [
  ...(['seq', 'at', 'event_type', 'org_id', 'agent_id'] as const),
  ...(['op_id', 'user_sub', 'user_email', 'run'] as const),
] satisfies readonly Name[];

/** `damaged` names, by its last entry, each block that could not be indexed. */
export const packedSchema = `
  CREATE TEMP TABLE looked_at (${lookedAtNames.join(', ')});
  CREATE TEMP TABLE step (${stepNames.join(', ')});
  CREATE TABLE IF NOT EXISTS ix.damaged (seq INTEGER PRIMARY KEY);
`;

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
  readonly #mostBlocks: number;

  constructor(db: DatabaseSync, log: StoredLog, most = mostBlocks) {
    this.#db = db;
    this.#log = log;
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
   * Puts the packed ones of these entries where `lookedAtSql` finds them, newest first. Returns whether it left older ones
   * out because they are in further blocks.
   */
  lookAt(parts: readonly LookedAtPart[], packed: number, mostOpened = this.#mostBlocks): boolean {
    this.#db.exec('DELETE FROM temp.looked_at');
    const insert = this.#insertInto('looked_at', lookedAtNames);
    const opened = new Set<number>();
    for (const part of parts) {
      let left = part.most - this.#rowsNamed(part, packed);
      for (const [block, seq] of this.#places({ ...part, high: Math.min(part.high, packed) }, true, {})) {
        if (left-- <= 0) break;
        if (opened.add(block.firstSeq).size > mostOpened) return true;
        insert(this.#log.packed(block, seq));
      }
    }
    return false;
  }

  /**
   * Puts entries after this one, about `most`, where they are indexed from. Returns the last one. A block that cannot be
   * read is noted instead: whoever looks for something by the index is told of it.
   */
  step(after: number, most: number): number {
    const insert = this.#insertInto('step', stepNames);
    let last = after;
    for (const block of this.#log.blocks(after + 1, Number.MAX_SAFE_INTEGER, false)) {
      if (last - after >= most) break;
      try {
        for (let seq = Math.max(after + 1, block.firstSeq); seq <= block.lastSeq; seq++) {
          insert(this.#log.packed(block, seq));
        }
      } catch (error) {
        if (!(error instanceof DamagedEntries)) throw error;
        this.#db.prepare('INSERT OR IGNORE INTO ix.damaged VALUES (?)').run(block.lastSeq);
        const { firstSeq, lastSeq, minAt, maxAt } = block;
        this.#db.prepare('INSERT OR REPLACE INTO ix.by_time VALUES (?, ?, ?, ?)').run(firstSeq, lastSeq, minAt, maxAt);
      }
      last = block.lastSeq;
    }
    return last;
  }

  /** Whether a block that could not be indexed can be read now. */
  hasMended(): boolean {
    for (const row of this.#db.prepare('SELECT seq FROM ix.damaged').iterate()) {
      const seq = numberIn(row, 'seq');
      const block = this.#log.blockOf(seq);
      if (block !== undefined && this.#log.stored(block, seq).hash !== '') return true;
    }
    return false;
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
    const { orgId } = index;
    const isOfOrg =
      orgId === undefined ? '' : 'AND EXISTS (SELECT 1 FROM ix.by_org o WHERE o.org_id = ?4 AND o.seq = x.seq)';
    const sql = `SELECT seq FROM ix.${index.table} x WHERE ${index.column} = ?1 AND seq BETWEEN ?2 AND ?3 ${isOfOrg}
      UNION ALL SELECT seq FROM ix.damaged WHERE seq BETWEEN ?2 AND ?3 ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'}`;
    const values = [index.value, low, high, ...(orgId === undefined ? [] : [orgId])];
    let block: BlockPlace | undefined;
    for (const row of this.#db.prepare(sql).iterate(...values)) {
      const seq = numberIn(row, 'seq');
      if (block === undefined || seq < block.firstSeq || seq > block.lastSeq) block = this.#log.blockOf(seq);
      if (block === undefined) throw new DamagedEntries(seq, seq);
      if (block.maxAt >= (from ?? block.maxAt) && block.minAt < (to ?? Number.POSITIVE_INFINITY)) yield [block, seq];
    }
  }

  /** How many of the entries that are looked at by an index are rows. A stretch without an index is bounded by itself. */
  #rowsNamed({ index, high, most }: LookedAtPart, packed: number): number {
    if (index === undefined) return 0;
    const found = `SELECT 1 FROM ix.${index.table} WHERE ${index.column} = ? AND seq BETWEEN ? AND ? LIMIT ?`;
    const counted = this.#db.prepare(`SELECT count(*) AS n FROM (${found})`);
    return numberIn(counted.get(index.value, packed + 1, high, most) ?? {}, 'n');
  }

  #insertInto(table: string, names: readonly Name[]): (entry: PackedEntry) => void {
    const insert = this.#db.prepare(`INSERT INTO temp.${table} VALUES (${names.map(() => '?').join(', ')})`);
    return (entry) => insert.run(...names.map((name) => entry[name]));
  }
}

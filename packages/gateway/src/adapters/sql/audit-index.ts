import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { AuditPage, AuditQuery, PeoplePage, PeopleQuery, Row, StoredEntry } from '@reeve/core';
import type { UserRunsPage, UserRunsQuery } from '@reeve/core';
import { EntryPage, entriesTable, holdsText, numberIn } from '@reeve/core';
import { indexings, schema, tables, version } from './audit-index-schema.ts';
import type { Bounds, Select } from './audit-query.ts';
import { plan } from './audit-query.ts';
import type { PackedBlock } from './log-block.ts';
import { isDamage } from './open-sqlite.ts';
import type { Packing } from './pack-oldest.ts';
import { packOldest } from './pack-oldest.ts';
import { LookedFarEnough, PackedReader, stepNames } from './packed-reader.ts';
import { lookedAtIn, lookedAtSql } from './people-query.ts';
import type { LookedAt, Sql } from './people-select.ts';
import { peoplePage, peopleSelect } from './people-select.ts';
import { StoredLog } from './stored-log.ts';
import { DamagedEntries } from './unreadable-entry.ts';
import { userRunsPage, userRunsSelect } from './user-runs-select.ts';

/** A step of a search unpacks no more blocks, about thirty milliseconds. Then other readers have their turn. */
const mostBlocksOfStep = 256;

/**
 * The indexes of the audit log, in a separate file that can be thrown away and rebuilt. A separate thread updates them
 * in large sorted steps, so that the decision path writes each entry once and nothing else.
 */
export class AuditIndex {
  readonly #db: DatabaseSync;
  readonly #log: StoredLog;
  readonly #packed: PackedReader;

  /** `mostBlocks`: how many blocks one page opens. */
  constructor(storePath: string, indexPath: string, mostBlocks?: number) {
    this.#db = new DatabaseSync(storePath);
    try {
      this.#db.prepare('ATTACH DATABASE ? AS ix').run(indexPath);
      this.#db.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
      this.#db.function('holds_text', { deterministic: true }, (canonical, q) =>
        holdsText(String(canonical), String(q)) ? 1 : 0,
      );
      this.#db.exec(schema);
      this.#log = new StoredLog(this.#db);
      this.#packed = new PackedReader(this.#db, this.#log, mostBlocks);
      if (!this.#fits()) this.#startOver();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens the indexes, and rebuilds them if they are damaged. */
  static open(storePath: string, indexPath: string): AuditIndex {
    try {
      return new AuditIndex(storePath, indexPath);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return AuditIndex.remake(storePath, indexPath);
    }
  }

  /** Throws the indexes away and starts over. */
  static remake(storePath: string, indexPath: string): AuditIndex {
    for (const end of ['', '-wal', '-shm']) rmSync(`${indexPath}${end}`, { force: true });
    return new AuditIndex(storePath, indexPath);
  }

  /** Indexes about `most` entries; returns how many it indexed. */
  catchUp(most: number): number {
    this.#forgetRemoved();
    const through = this.#through();
    if ((this.#log.newestSeq() ?? 0) <= through) return 0;
    this.#db.exec('BEGIN');
    try {
      // The entries themselves are long, so they are read once for all indexes.
      this.#run('DELETE FROM temp.step');
      const to = through < this.#log.packedThrough() ? this.#packed.step(through, most) : this.#step(through, most);
      for (const sql of indexings) this.#run(sql);
      this.#run('UPDATE ix.progress SET through = ?, hash = ?', to, this.#log.entry(to)?.hash ?? '');
      this.#db.exec('COMMIT');
      return to - through;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Puts rows after this one where they are indexed from. Returns the last one. */
  #step(after: number, most: number): number {
    const names = stepNames.join(', ');
    const rows = `SELECT ${names} FROM main.audit WHERE seq > ? ORDER BY seq LIMIT ?`;
    this.#run(`INSERT INTO temp.step ${rows}`, after, most);
    return Number(this.#one('SELECT max(seq) AS seq FROM temp.step')?.['seq'] ?? after);
  }

  /** The next block, of entries that are indexed. Undefined if there is none to make yet. */
  packOldest(packing: Packing): PackedBlock | undefined {
    const newest = this.#log.newestSeq() ?? 0;
    return packOldest(this.#db, Math.min(this.#through(), newest - packing.keptRows), packing);
  }

  /** How many entries are not indexed yet. Queries read these one by one. */
  lag(): number {
    return Math.max(0, (this.#log.newestSeq() ?? 0) - this.#through());
  }

  /** How many entries are old enough to be packed, and are rows. */
  unpacked({ keptRows }: Packing): number {
    const packed = Math.max(this.#log.packedThrough(), (this.#log.oldestSeq() ?? 1) - 1);
    return Math.max(0, (this.#log.newestSeq() ?? 0) - keptRows - packed);
  }

  /** Whether the indexes are in order, whatever the log is. Reads all of them. */
  isWhole(): boolean {
    try {
      return this.#one('PRAGMA ix.quick_check(1)')?.['quick_check'] === 'ok';
    } catch {
      return false;
    }
  }

  read(query: AuditQuery, newestFirst: boolean): AuditPage {
    return this.#atOnce(() => {
      const { selects, packed, next } = plan(query, newestFirst, this.#bounds(query));
      const page = new EntryPage(query.limit, Buffer.byteLength);
      const rows = () =>
        selects.every((select) => this.#fill(page, this.#rows(select, query.limit + 1 - page.entries.length)));
      const blocks = () => this.#fill(page, this.#packed.find(query, packed, newestFirst));
      try {
        for (const find of newestFirst ? [rows, blocks] : [blocks, rows]) if (!find()) break;
        return page.finish(next);
      } catch (error) {
        if (error instanceof LookedFarEnough) return page.finish(error.at);
        const last = page.entries.at(-1);
        if (!(error instanceof DamagedEntries) || last === undefined) throw error;
        // What was found up to there is shown. Whoever goes on is told.
        return page.finish(last.seq);
      }
    });
  }

  people(query: PeopleQuery): PeoplePage {
    return this.#atOnce(() => {
      const lookedAt = this.#lookedAt(query);
      const { sql, values } = peopleSelect(query, lookedAt);
      return peoplePage(this.#db.prepare(sql).all(...values), query, lookedAt.isCut);
    });
  }

  runsOfUser(query: UserRunsQuery): UserRunsPage {
    return this.#atOnce(() => {
      const lookedAt = this.#lookedAt(query, mostBlocksOfStep);
      const { sql, values } = userRunsSelect(query, lookedAt);
      return userRunsPage(this.#db.prepare(sql).all(...values), query, lookedAt.isCut);
    });
  }

  /** Selects the entries that a query looks at. What is packed is laid out for it. */
  #lookedAt(
    query: LookedAt & Pick<AuditQuery, 'before' | 'from' | 'to'>,
    mostOpened?: number,
  ): Sql & { readonly isCut: boolean } {
    const bounds = this.#bounds(query);
    const parts = lookedAtIn(query, bounds);
    const isCut = this.#packed.lookAt(parts, bounds.packed, mostOpened);
    return { ...lookedAtSql(parts, bounds.packed), isCut };
  }

  /** Reads one state of the log, whatever is written in the meantime. */
  #atOnce<Result>(work: () => Result): Result {
    this.#db.exec('BEGIN');
    try {
      return work();
    } finally {
      this.#db.exec('COMMIT');
    }
  }

  /** Reads row by row, so that a row that does not fit is not read at all. */
  #fill(page: EntryPage, entries: Iterable<StoredEntry>): boolean {
    for (const entry of entries) if (!page.offer(entry)) return false;
    return true;
  }

  *#rows({ sql, values }: Select, most: number): Generator<StoredEntry> {
    for (const row of this.#db.prepare(sql).iterate(...values, most)) yield entriesTable.itemOf(row);
  }

  close(): void {
    this.#db.close();
  }

  /** Whether the indexes belong to this log as it is, and not to an earlier one in its place, or one that was damaged then. */
  #fits(): boolean {
    const progress = this.#one('SELECT through, hash FROM ix.progress');
    if (progress === undefined || this.#packed.hasMended()) return false;
    if (this.#one('PRAGMA ix.user_version')?.['user_version'] !== version) return false;
    if (numberIn(progress, 'through') === 0) return true;
    return this.#log.entry(numberIn(progress, 'through'))?.hash === progress['hash'];
  }

  #startOver(): void {
    for (const table of tables) this.#db.exec(`DELETE FROM ix.${table}`);
    this.#db.exec(
      `DELETE FROM ix.by_time; DELETE FROM ix.damaged; DELETE FROM ix.progress; INSERT INTO ix.progress VALUES (0, '', 0);
      PRAGMA ix.user_version = ${version}`,
    );
  }

  /** Drops what retention has removed from the log. */
  #forgetRemoved(): void {
    const oldest = this.#log.oldestSeq();
    const removed = Number(this.#one('SELECT removed FROM ix.progress')?.['removed'] ?? 0);
    if (oldest === undefined || oldest - 1 <= removed) return;
    for (const table of [...tables, 'damaged']) this.#run(`DELETE FROM ix.${table} WHERE seq < ?`, oldest);
    this.#run('DELETE FROM ix.by_time WHERE last_seq < ?', oldest);
    this.#run('UPDATE ix.progress SET removed = ?', oldest - 1);
  }

  #through(): number {
    const row = this.#one('SELECT through FROM ix.progress');
    return row === undefined ? 0 : numberIn(row, 'through');
  }

  /** The stretch of sequences that can hold the answer, by the times in the query. */
  #bounds(query: Pick<AuditQuery, 'after' | 'before' | 'from' | 'to'>): Bounds {
    const newest = this.#log.newestSeq() ?? 0;
    const oldest = this.#log.oldestSeq() ?? 1;
    const packed = this.#log.packedThrough();
    const indexed = this.#through();
    let low = Math.max(oldest, (query.after ?? 0) + 1);
    let high = Math.min(newest, (query.before ?? newest + 1) - 1);
    if (query.from !== undefined) {
      const first = this.#one('SELECT min(first_seq) AS seq FROM ix.by_time WHERE max_at >= ?', query.from)?.['seq'];
      low = Math.max(low, typeof first === 'number' ? first : indexed + 1);
    }
    if (query.to !== undefined) {
      const last = this.#one('SELECT max(last_seq) AS seq FROM ix.by_time WHERE min_at < ?', query.to)?.['seq'];
      high = Math.min(high, Math.max(Number(last ?? 0), this.#lastUnindexed(query.to, indexed, packed)));
    }
    return { low, high, indexed, packed };
  }

  /** The last entry of those that are not indexed from before a time, or 0. */
  #lastUnindexed(to: number, indexed: number, packed: number): number {
    const row = this.#one('SELECT max(seq) AS seq FROM main.audit WHERE seq > ? AND at < ?', indexed, to)?.['seq'];
    if (typeof row === 'number' || indexed >= packed) return Number(row ?? 0);
    for (const { lastSeq } of this.#log.blocks(indexed + 1, packed, true, { to })) return lastSeq;
    return 0;
  }

  #one(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#db.prepare(sql).get(...values);
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#db.prepare(sql).run(...values);
  }
}

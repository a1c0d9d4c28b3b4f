import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { AuditPage, AuditQuery, PeoplePage, PeopleQuery, Row, StoredEntry } from '@reeve/core';
import type { UserRunsPage, UserRunsQuery } from '@reeve/core';
import { EntryPage, entriesTable, holdsText, numberIn } from '@reeve/core';
import type { Bounds, Select } from './audit-query.ts';
import { plan } from './audit-query.ts';
import type { PackedBlock } from './log-block.ts';
import { isDamage } from './open-sqlite.ts';
import { directorySchema, LogDirectory } from './log-directory.ts';
import type { SegmentEntry } from './log-segment.ts';
import { segmentNames } from './log-segment.ts';
import type { Packing } from './pack-oldest.ts';
import { packOldest } from './pack-oldest.ts';
import { LookedFarEnough, PackedReader } from './packed-reader.ts';
import { lookedAtIn, lookedAtSql } from './people-query.ts';
import type { LookedAt, Sql } from './people-select.ts';
import { peoplePage, peopleSelect } from './people-select.ts';
import { StoredLog } from './stored-log.ts';
import { DamagedEntries } from './unreadable-entry.ts';
import { userRunsPage, userRunsSelect } from './user-runs-select.ts';

/** A step of a search unpacks no more blocks, about thirty milliseconds. Then other readers have their turn. */
const mostBlocksOfStep = 256;
/** Memory holds so many rows of the log while they are indexed. */
const rowsAtOnce = 1000;

const schema = `
  PRAGMA ix.journal_mode = WAL;
  PRAGMA ix.synchronous = OFF;
  PRAGMA ix.cache_size = -32768;
  PRAGMA ix.wal_autocheckpoint = 8000;
  PRAGMA busy_timeout = 2000;
  PRAGMA temp_store = MEMORY;
  ${directorySchema}
`;

/** What is indexed, by number. An index of another one is made again. */
const version = 2;

/**
 * The directory of the audit log, in a separate file that can be thrown away and rebuilt. A separate thread keeps it, so
 * that the decision path writes each entry once and nothing else.
 */
export class AuditIndex {
  readonly #db: DatabaseSync;
  readonly #log: StoredLog;
  readonly #directory: LogDirectory;
  readonly #packed: PackedReader;

  /** `mostBlocks`: how many blocks one page opens. `segmentEntries`: how many entries a segment of the directory has. */
  constructor(storePath: string, indexPath: string, mostBlocks?: number, segmentEntries?: number) {
    this.#db = new DatabaseSync(storePath);
    try {
      this.#db.function('holds_text', { deterministic: true }, (canonical, q) =>
        holdsText(String(canonical), String(q)) ? 1 : 0,
      );
      this.#log = new StoredLog(this.#db);
      this.#attach(indexPath);
      if (!this.#fits()) {
        this.#db.exec('DETACH DATABASE ix');
        removeFiles(indexPath);
        this.#attach(indexPath);
        this.#db.exec(`PRAGMA ix.user_version = ${version}`);
      }
      this.#directory = new LogDirectory(this.#db, segmentEntries);
      this.#packed = new PackedReader(this.#db, this.#log, this.#directory, mostBlocks);
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
    removeFiles(indexPath);
    return new AuditIndex(storePath, indexPath);
  }

  #attach(indexPath: string): void {
    this.#db.prepare('ATTACH DATABASE ? AS ix').run(indexPath);
    this.#db.exec(schema);
  }

  /** Indexes about `most` entries; returns how many it indexed. */
  catchUp(most: number): number {
    const directory = this.#directory;
    directory.forgetBefore(this.#log.oldestSeq() ?? 1);
    const before = directory.through;
    if ((this.#log.newestSeq() ?? 0) <= before) return 0;
    this.#atOnce(() => (before < this.#log.packedThrough() ? this.#packed.index(most) : this.#indexRows(most)));
    if (directory.isFull) this.#write();
    return directory.through - before;
  }

  #indexRows(most: number): void {
    for (let left = most; left > 0; left -= rowsAtOnce) if (!this.#indexPage(Math.min(left, rowsAtOnce))) return;
  }

  /** Returns whether there may be more. */
  #indexPage(most: number): boolean {
    const sql = `SELECT ${segmentNames.join(', ')} FROM main.audit WHERE seq > ? ORDER BY seq LIMIT ?`;
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    // Reading them one by one takes a quarter more.
    const page = statement.all(this.#directory.through, most) as unknown as readonly SegmentValues[];
    for (const values of page) {
      const [seq, at, event_type, org_id, agent_id, op_id, user_sub, user_email, run] = values;
      const entry: SegmentEntry = { seq, at, event_type, org_id, agent_id, op_id, user_sub, user_email, run };
      if (!this.#directory.offer(entry)) return false;
    }
    return page.length === most;
  }

  #write(): void {
    this.#directory.write(this.#log.entry(this.#directory.through)?.hash ?? '');
  }

  /** The next block, of entries that are indexed. Undefined if there is none to make yet. */
  packOldest(packing: Packing): PackedBlock | undefined {
    const newest = this.#log.newestSeq() ?? 0;
    return packOldest(this.#db, Math.min(this.#directory.through, newest - packing.keptRows), packing);
  }

  /** How many entries are not indexed yet. Queries read these one by one. */
  lag(): number {
    return Math.max(0, (this.#log.newestSeq() ?? 0) - this.#directory.through);
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

  *#rows({ index, newestFirst, sql, values: [low, high, ...others] }: Select, most: number): Generator<StoredEntry> {
    const statement = this.#db.prepare(sql);
    if (index === undefined) {
      for (const row of statement.iterate(low, high, ...others, most)) yield entriesTable.itemOf(row);
      return;
    }
    for (const seq of this.#directory.named(index, low, high, newestFirst)) {
      const row = statement.get(seq, seq, ...others, 1);
      if (row !== undefined) yield entriesTable.itemOf(row);
    }
  }

  /** What is not written yet is read again by the next start. */
  close(): void {
    try {
      this.#write();
    } catch {
      // It takes a moment longer.
    } finally {
      this.#db.close();
    }
  }

  /** Whether the directory belongs to this log as it is, and not to an earlier one in its place, or one that was damaged then. */
  #fits(): boolean {
    if (this.#one('PRAGMA ix.user_version')?.['user_version'] !== version || this.#hasMended()) return false;
    const covered = this.#one('SELECT through, hash FROM ix.covered');
    return covered === undefined || this.#log.entry(numberIn(covered, 'through'))?.hash === covered['hash'];
  }

  /** Whether a block that could not be indexed can be read now. */
  #hasMended(): boolean {
    for (const row of this.#db.prepare('SELECT seq FROM ix.damaged').iterate()) {
      const seq = numberIn(row, 'seq');
      const block = this.#log.blockOf(seq);
      if (block !== undefined && this.#log.stored(block, seq).hash !== '') return true;
    }
    return false;
  }

  /** The stretch of sequences that can hold the answer, by the times in the query. */
  #bounds(query: Pick<AuditQuery, 'after' | 'before' | 'from' | 'to'>): Bounds {
    const newest = this.#log.newestSeq() ?? 0;
    const oldest = this.#log.oldestSeq() ?? 1;
    const packed = this.#log.packedThrough();
    const indexed = this.#directory.through;
    let low = Math.max(oldest, (query.after ?? 0) + 1);
    let high = Math.min(newest, (query.before ?? newest + 1) - 1);
    if (query.from !== undefined) low = Math.max(low, this.#directory.firstSince(query.from) ?? indexed + 1);
    if (query.to !== undefined) {
      const last = Math.max(this.#directory.lastBefore(query.to), this.#lastUnindexed(query.to, indexed, packed));
      high = Math.min(high, last);
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
}

type SegmentValues = [
  ...[seq: number, at: number, event: string, org: string | null, agent: string],
  ...[op: string | null, sub: string | null, email: string | null, run: string | null],
];

function removeFiles(indexPath: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${indexPath}${end}`, { force: true });
}

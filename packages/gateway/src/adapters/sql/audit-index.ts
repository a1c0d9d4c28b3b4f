import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { AuditPage, AuditQuery, PeoplePage, PeopleQuery, Row } from '@reeve/core';
import { EntryPage, entriesTable, numberIn } from '@reeve/core';
import { frequentEvents, plan } from './audit-query.ts';
import { lookedAtIn } from './people-query.ts';
import { peoplePage, peopleSelect } from './people-select.ts';

const schema = `
  PRAGMA ix.journal_mode = WAL;
  PRAGMA ix.synchronous = OFF;
  PRAGMA ix.cache_size = -32768;
  PRAGMA ix.wal_autocheckpoint = 8000;
  PRAGMA busy_timeout = 2000;
  PRAGMA temp_store = MEMORY;
  CREATE TABLE IF NOT EXISTS ix.by_org (org_id TEXT, seq INTEGER, PRIMARY KEY (org_id, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_agent (agent TEXT, seq INTEGER, PRIMARY KEY (agent, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_op (op_id TEXT, seq INTEGER, PRIMARY KEY (op_id, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_event (event_type TEXT, seq INTEGER, PRIMARY KEY (event_type, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_user (user TEXT, seq INTEGER, PRIMARY KEY (user, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_run (run TEXT, seq INTEGER, PRIMARY KEY (run, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_time (first_seq INTEGER PRIMARY KEY, last_seq INTEGER, min_at INTEGER, max_at INTEGER);
  CREATE TABLE IF NOT EXISTS ix.progress (through INTEGER NOT NULL, hash TEXT NOT NULL, removed INTEGER NOT NULL);
  CREATE TEMP TABLE step (seq INTEGER, at INTEGER, event_type TEXT, org_id TEXT, agent_id TEXT, op_id TEXT,
    user_sub TEXT, user_email TEXT, run TEXT);
`;

const frequent = frequentEvents.map((type) => `'${type}'`).join(', ');

/** Sorted, so that neighbours in an index are written together. */
const indexings = [
  'INSERT OR IGNORE INTO ix.by_org SELECT org_id, seq FROM temp.step WHERE org_id IS NOT NULL ORDER BY org_id, seq',
  `INSERT OR IGNORE INTO ix.by_agent SELECT agent_id, seq FROM temp.step WHERE agent_id <> '' ORDER BY agent_id, seq`,
  'INSERT OR IGNORE INTO ix.by_op SELECT op_id, seq FROM temp.step WHERE op_id IS NOT NULL ORDER BY op_id, seq',
  `INSERT OR IGNORE INTO ix.by_event SELECT event_type, seq FROM temp.step WHERE event_type NOT IN (${frequent})
    ORDER BY event_type, seq`,
  // Subjects differ by letter case, but rarely by nothing else. The query compares the entry itself.
  `INSERT OR IGNORE INTO ix.by_user SELECT fold(user_sub) AS user, seq FROM temp.step WHERE user_sub IS NOT NULL
    UNION SELECT user_email, seq FROM temp.step WHERE user_email IS NOT NULL ORDER BY user, seq`,
  'INSERT OR IGNORE INTO ix.by_run SELECT run, seq FROM temp.step WHERE run IS NOT NULL ORDER BY run, seq',
  'INSERT OR REPLACE INTO ix.by_time SELECT min(seq), max(seq), min(at), max(at) FROM temp.step',
];

const tables = ['by_org', 'by_agent', 'by_op', 'by_event', 'by_user', 'by_run'];

/** Whether an error says that a file is not a database, or is damaged. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return code === damaged || code === noDatabase;
}

const damaged = 11;
const noDatabase = 26;

/**
 * The indexes of the audit log, in a separate file that can be thrown away and rebuilt. A separate thread updates them
 * in large sorted steps, so that the decision path writes each entry once and nothing else.
 */
export class AuditIndex {
  readonly #db: DatabaseSync;

  constructor(storePath: string, indexPath: string) {
    this.#db = new DatabaseSync(storePath);
    try {
      this.#db.prepare('ATTACH DATABASE ? AS ix').run(indexPath);
      this.#db.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
      this.#db.exec(schema);
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

  /** Indexes up to `most` entries; returns how many it indexed. */
  catchUp(most: number): number {
    this.#forgetRemoved();
    const through = this.#through();
    const last = this.#one(
      'SELECT max(seq) AS seq FROM (SELECT seq FROM main.audit WHERE seq > ? ORDER BY seq LIMIT ?)',
      through,
      most,
    );
    if (last === undefined || typeof last['seq'] !== 'number') return 0;
    const to = last['seq'];
    this.#db.exec('BEGIN');
    try {
      // The entries themselves are long, so they are read once for all indexes.
      this.#run('DELETE FROM temp.step');
      this.#run(
        `INSERT INTO temp.step SELECT seq, at, event_type, org_id, agent_id, op_id, user_sub, user_email, run
          FROM main.audit WHERE seq > ? AND seq <= ?`,
        through,
        to,
      );
      for (const sql of indexings) this.#run(sql);
      this.#run('UPDATE ix.progress SET through = ?1, hash = (SELECT hash FROM main.audit WHERE seq = ?1)', to);
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
    return to - through;
  }

  /** How many entries are not indexed yet. Queries read these one by one. */
  lag(): number {
    const newest = this.#one('SELECT max(seq) AS seq FROM main.audit')?.['seq'];
    return typeof newest === 'number' ? Math.max(0, newest - this.#through()) : 0;
  }

  read(query: AuditQuery, newestFirst: boolean): AuditPage {
    return this.#atOnce(() => {
      const parts = plan(query, newestFirst, this.#bounds(query));
      const page = new EntryPage(query.limit, Buffer.byteLength);
      for (const { sql, values } of parts.selects) {
        const wanted = query.limit + 1 - page.entries.length;
        if (!this.#fill(page, this.#db.prepare(sql).iterate(...values, wanted))) break;
      }
      return page.finish(parts.next);
    });
  }

  people(query: PeopleQuery): PeoplePage {
    return this.#atOnce(() => {
      const { sql, values } = peopleSelect(query, lookedAtIn(query, this.#bounds(query)));
      return peoplePage(this.#db.prepare(sql).all(...values), query);
    });
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
  #fill(page: EntryPage, rows: Iterable<Row>): boolean {
    for (const row of rows) if (!page.offer(entriesTable.itemOf(row))) return false;
    return true;
  }

  close(): void {
    this.#db.close();
  }

  /** Whether the indexes belong to this log, and not to an earlier one in its place. */
  #fits(): boolean {
    const progress = this.#one('SELECT through, hash FROM ix.progress');
    if (progress === undefined) return false;
    if (numberIn(progress, 'through') === 0) return true;
    const entry = this.#one('SELECT hash FROM main.audit WHERE seq = ?', numberIn(progress, 'through'));
    return entry !== undefined && entry['hash'] === progress['hash'];
  }

  #startOver(): void {
    for (const table of tables) this.#db.exec(`DELETE FROM ix.${table}`);
    this.#db.exec(`DELETE FROM ix.by_time; DELETE FROM ix.progress; INSERT INTO ix.progress VALUES (0, '', 0)`);
  }

  /** Drops what retention has removed from the log. */
  #forgetRemoved(): void {
    const oldest = this.#one('SELECT min(seq) AS seq FROM main.audit')?.['seq'];
    const removed = Number(this.#one('SELECT removed FROM ix.progress')?.['removed'] ?? 0);
    if (typeof oldest !== 'number' || oldest - 1 <= removed) return;
    for (const table of tables) this.#run(`DELETE FROM ix.${table} WHERE seq < ?`, oldest);
    this.#run('DELETE FROM ix.by_time WHERE last_seq < ?', oldest);
    this.#run('UPDATE ix.progress SET removed = ?', oldest - 1);
  }

  #through(): number {
    const row = this.#one('SELECT through FROM ix.progress');
    return row === undefined ? 0 : numberIn(row, 'through');
  }

  /** The stretch of sequences that can hold the answer, by the times in the query. */
  #bounds(query: Pick<AuditQuery, 'after' | 'before' | 'from' | 'to'>): { low: number; high: number; indexed: number } {
    const newest = Number(this.#one('SELECT max(seq) AS seq FROM main.audit')?.['seq'] ?? 0);
    const oldest = Number(this.#one('SELECT min(seq) AS seq FROM main.audit')?.['seq'] ?? 1);
    const indexed = this.#through();
    let low = Math.max(oldest, (query.after ?? 0) + 1);
    let high = Math.min(newest, (query.before ?? newest + 1) - 1);
    if (query.from !== undefined) {
      const first = this.#one('SELECT min(first_seq) AS seq FROM ix.by_time WHERE max_at >= ?', query.from)?.['seq'];
      low = Math.max(low, typeof first === 'number' ? first : indexed + 1);
    }
    if (query.to !== undefined) {
      const last = this.#one('SELECT max(last_seq) AS seq FROM ix.by_time WHERE min_at < ?', query.to)?.['seq'];
      const tail = this.#one('SELECT max(seq) AS seq FROM main.audit WHERE seq > ? AND at < ?', indexed, query.to)?.[
        'seq'
      ];
      high = Math.min(high, Math.max(Number(last ?? 0), Number(tail ?? 0)));
    }
    return { low, high, indexed };
  }

  #one(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#db.prepare(sql).get(...values);
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#db.prepare(sql).run(...values);
  }
}

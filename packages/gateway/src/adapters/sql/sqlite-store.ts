import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type {
  AgentId,
  Batch,
  BulkControl,
  ClosedPeriod,
  KeptFacts,
  Period,
  ReadRow,
  Reading,
  Receipt,
  ReceiptStatus,
  Row,
  Snapshot,
  Store,
  StoredEntry,
  Table,
  TierOf,
  Write,
} from '@reeve/core';
import {
  bulksTable,
  closedPeriodsTable,
  emptyChain,
  entriesTable,
  EntryPage,
  factsText,
  loadSnapshot,
  marksTable,
  receiptsTable,
  tierKey,
  writesOf,
} from '@reeve/core';
import { BlockWriter, RowsGone } from './block-writer.ts';
import { controlQueries, countsOf } from './control-queries.ts';
import type { PackedBlock } from './log-block.ts';
import { migrate } from './migrate.ts';
import type { SqliteOptions } from './open-sqlite.ts';
import { isBusy, keptWal, openSqlite, resultOf } from './open-sqlite.ts';
import { SqlApprovals } from './sql-approvals.ts';
import type { SqlSession, SqlValue } from './sql-database.ts';
import { eachRow, eachValues, SqliteTable } from './sqlite-table.ts';
import { SqlPolicies } from './sql-policies.ts';
import { StoredLog } from './stored-log.ts';
import { dropPlacesSql, pruneSql, pruneValues, readingSql } from './table-sql.ts';
import type { WalWriter } from './wal-checkpointer.ts';

/** How many commits a start reads at once. */
const commitsPerPage = 50;

/**
 * The embedded store. It writes synchronously, because a commit takes a few microseconds per entry. A separate thread
 * checkpoints the write-ahead log. Where commits have to wait, for that thread or for a transaction of the accounts, they
 * run in a later turn of the event loop.
 */
export class SqliteStore implements Store, WalWriter {
  readonly #db: DatabaseSync;
  readonly #sql = new Map<string, StatementSync>();
  readonly #tables = new Map<Table, SqliteTable>();
  /** Resolves when commits may go on. */
  #pause: Promise<void> | undefined;
  readonly #log: StoredLog;
  readonly #blocks: BlockWriter;
  readonly policies: SqlPolicies;
  readonly approvals: SqlApprovals;

  constructor(options: SqliteOptions) {
    this.#db = openSqlite(options, (db) => {
      db.exec('PRAGMA cache_size = -65536');
      migrate(db);
    });
    this.#log = new StoredLog(this.#db);
    this.#blocks = new BlockWriter(this.#log, (sql, ...values) => Number(this.#prepare(sql).run(...values).changes));
    const reading: Pick<SqlSession, 'all'> = { all: (sql, ...values) => Promise.resolve(this.#all(sql, ...values)) };
    this.policies = new SqlPolicies(reading);
    this.approvals = new SqlApprovals(reading);
  }

  load(): Promise<Snapshot> {
    const newest = this.#log.newest();
    const head = newest === undefined ? emptyChain : { seq: newest.seq, hash: newest.hash };
    return loadSnapshot(
      head,
      (reading, read) => [...this.#each(reading, read)],
      (reading, read) => ({ [Symbol.iterator]: () => this.#each(reading, read) }),
    );
  }

  commit(batch: Batch): void | Promise<void> {
    if (this.#pause !== undefined) return this.#pause.then(() => this.commitNow(batch));
    try {
      return this.commitNow(batch);
    } catch (error) {
      if (!isBusy(error)) throw error;
      // A transaction of the accounts is under way. It ends with this turn.
      return setImmediate().then(() => this.commitNow(batch));
    }
  }

  pause(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pause = promise;
    return () => {
      if (this.#pause === promise) this.#pause = undefined;
      // Not in this turn, where a transaction of the accounts may be under way.
      void setImmediate().then(() => resolve());
    };
  }

  /** Gives back the room of a log that had grown longer than it may stay, little by little. */
  trimWal(walBytes: number): void {
    if (!this.#db.isOpen) return;
    this.#db.exec(`PRAGMA journal_size_limit = ${keptWal(walBytes)}`);
  }

  /** Commits whether there is a pause or not. Throws if somebody else writes. */
  commitNow(batch: Batch): void {
    this.#transaction(() => {
      const entries = this.#table(entriesTable);
      for (const entry of batch.entries) entries.insert(entry);
      for (const change of batch.changes) for (const write of writesOf(change)) this.#write(write);
      this.#keep(batch);
    });
  }

  #keep({ entries, told }: Batch): void {
    if (told === undefined || told.steps.length === 0) return;
    const before = entries[0] === undefined ? (this.#log.newestSeq() ?? 0) : entries[0].seq - 1;
    const sql = 'INSERT INTO facts (before, seq, told) VALUES (?, ?, ?)';
    this.#run(sql, before, before + entries.length, factsText(told));
  }

  factsAfter(position: number, seq: number): Promise<readonly KeptFacts[]> {
    const sql =
      'SELECT position, before, seq, told FROM facts WHERE position > ? AND seq > ? ORDER BY position LIMIT ?';
    const rows = eachValues<[number, number, number, string]>(this.#prepare(sql), position, seq, commitsPerPage);
    return Promise.resolve([...rows].map(([at, before, head, facts]) => ({ position: at, before, seq: head, facts })));
  }

  forgetFacts(through: number, most: number): boolean {
    // Positions and entries grow together, so the first ones go.
    const sql = 'DELETE FROM facts WHERE seq <= ? AND position < (SELECT min(position) FROM facts) + ?';
    return Number(this.#prepare(sql).run(through, most).changes) === most;
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    const page = new EntryPage(limit, Buffer.byteLength);
    if (limit > 0)
      for (const entry of this.#log.after(seq)) if (!page.offer(entry) || page.entries.length === limit) break;
    return Promise.resolve(page.entries);
  }

  receipt(id: string): Promise<Receipt | undefined> {
    return Promise.resolve(this.#all(controlQueries.receipt, id).map(receiptsTable.itemOf)[0]);
  }

  receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    return Promise.resolve(ids.flatMap((id) => this.#all(controlQueries.receipt, id).map(receiptsTable.itemOf)));
  }

  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined> {
    const rows = this.#all(controlQueries.receiptOf, agent.orgId, agent.teamId, agent.agentId, sequence);
    return Promise.resolve(rows.map(receiptsTable.itemOf)[0]);
  }

  bulk(id: string): Promise<BulkControl | undefined> {
    return Promise.resolve(this.#all(controlQueries.bulk, id).map(bulksTable.itemOf)[0]);
  }

  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    return Promise.resolve(this.#all(controlQueries.receiptsOfBulk, bulkId, after, limit).map(receiptsTable.itemOf));
  }

  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    return Promise.resolve(countsOf(this.#all(controlQueries.countsOfBulk, bulkId)));
  }

  closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]> {
    const sql = 'SELECT record FROM closed_books WHERE name = ? AND period = ? ORDER BY id DESC LIMIT ?';
    const rows = this.#all(sql, tierKey(of), period, count);
    return Promise.resolve(rows.map(closedPeriodsTable.itemOf).reverse());
  }

  /**
   * Puts a block in the place of its rows. Returns why that is not possible now, if it is not: commits wait, somebody else
   * writes, or retention has removed some of these entries meanwhile.
   */
  pack(block: PackedBlock): string | undefined {
    if (this.#pause !== undefined) return 'commits wait for a checkpoint';
    try {
      this.#transaction(() => this.#blocks.replaceRows(block));
      return undefined;
    } catch (error) {
      if (error instanceof RowsGone || (error instanceof Error && resultOf(error) !== 0)) return error.message;
      throw error;
    }
  }

  probe(): void {
    this.#transaction(() => this.#table(marksTable).save({ name: 'probe', value: Date.now() }));
  }

  close(): Promise<void> {
    this.#sql.clear();
    this.#tables.clear();
    this.#db.close();
    return Promise.resolve();
  }

  #write(write: Write): void {
    const table = this.#table(write.table);
    switch (write.way) {
      case 'put':
        table.save(write.item);
        break;
      case 'remove':
        table.remove(write.key);
        break;
      case 'update': {
        const row = table.find(write.key);
        const before = row === undefined ? undefined : write.table.itemOf(row);
        const after = write.after(before);
        if (after === before) break;
        if (after === undefined) table.remove(write.key);
        else table.save(after);
        break;
      }
      case 'prune':
        this.#run(pruneSql(write), ...pruneValues(write));
        if (write.table === entriesTable) this.#blocks.removeThrough(Number(pruneValues(write)[0]));
        break;
      case 'clear':
        this.#run(`DELETE FROM ${write.table.name}`);
        break;
      case 'push':
        table.save(write.item);
        for (const part of write.parts) this.#table(write.partsTable).save(part);
        for (const each of [write.partsTable, write.table]) this.#run(dropPlacesSql(each, write));
        break;
    }
  }

  #table(table: Table): SqliteTable {
    let known = this.#tables.get(table);
    if (known === undefined) {
      known = new SqliteTable(table, (sql) => this.#db.prepare(sql));
      this.#tables.set(table, known);
    }
    return known;
  }

  #transaction(work: () => void): void {
    this.#prepare('BEGIN IMMEDIATE').run();
    try {
      work();
      this.#prepare('COMMIT').run();
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#sql.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#sql.set(sql, statement);
    }
    return statement;
  }

  #run(sql: string, ...values: SqlValue[]): void {
    this.#prepare(sql).run(...values);
  }

  /** Reads row by row, so that memory never holds the stored form of all rows at once. */
  *#each<Item>(reading: Reading<Item>, read: ReadRow<Item>): Generator<Item> {
    for (const row of eachRow(this.#db.prepare(readingSql(reading)))) {
      const item = read(row);
      if (item !== undefined) yield item;
    }
  }

  #all(sql: string, ...values: SqlValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }
}

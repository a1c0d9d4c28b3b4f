import type {
  AgentId,
  ApprovalReader,
  AuditPage,
  AuditQuery,
  AuditReader,
  Batch,
  BulkControl,
  ClosedPeriod,
  Commit,
  Period,
  PolicyStore,
  Reading,
  Receipt,
  ReceiptStatus,
  Row,
  Snapshot,
  Store,
  StoredEntry,
  TierOf,
} from '@reeve/core';
import {
  bulksTable,
  closedPeriodsTable,
  loadSnapshot,
  numberIn,
  receiptsTable,
  ReeveError,
  textIn,
  tierKey,
} from '@reeve/core';
import { controlQueries, countsOf } from '../sql/control-queries.ts';
import { SqlApprovals } from '../sql/sql-approvals.ts';
import type { SqlSession, SqlValue } from '../sql/sql-database.ts';
import { readingSql } from '../sql/table-sql.ts';
import { AuditLog } from './audit-log.ts';
import type { KeptCommit } from './commit-feed.ts';
import { commitColumns } from './commit-feed.ts';
import { eachRow } from './each-row.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { postgresPolicies } from './postgres-policies.ts';
import { arrayOf } from './statement.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface PostgresStoreOptions extends WriterOptions {
  readonly database: PostgresDatabase;
  /** Whether the database can be reached, as far as is known. */
  readonly isReachable: () => boolean;
  /** Called with every commit that this gateway has made, if others follow it. */
  readonly onCommitted: (commit: KeptCommit) => void;
}

/** PostgreSQL as the store of one gateway, or of several that follow each other's commits. */
export class PostgresStore implements Store, AuditReader {
  readonly #db: PostgresDatabase;
  readonly #of: PostgresStoreOptions;
  readonly #writer: Writer;
  readonly #log: AuditLog;
  readonly policies: PolicyStore;
  readonly approvals: ApprovalReader;

  constructor(options: PostgresStoreOptions) {
    const { database } = options;
    this.#db = database;
    this.#of = options;
    this.policies = postgresPolicies(database);
    this.approvals = new SqlApprovals(database);
    this.#writer = new Writer(options);
    this.#log = new AuditLog(database);
  }

  load(): Promise<Snapshot> {
    return this.#db.snapshot(async (sql) => {
      const [head = {}] = await sql.all('SELECT version, seq, hash, events FROM chain');
      const chain = { seq: numberIn(head, 'seq'), hash: textIn(head, 'hash') };
      this.#of.feed.start(numberIn(head, 'version'), chain);
      const snapshot = await loadSnapshot(chain, (reading) => readRows(sql, reading));
      return { ...snapshot, eventIdsReserved: Math.max(snapshot.eventIdsReserved, numberIn(head, 'events')) };
    });
  }

  /** The newest commits that are kept, for the events in them, up to the one that was loaded. Oldest first. */
  async recentCommits(mostBytes: number): Promise<readonly (KeptCommit & { readonly events: number })[]> {
    const sql = `SELECT ${commitColumns}, events FROM (
        SELECT *, sum(octet_length(told)) OVER (ORDER BY version DESC) AS bytes FROM (
          SELECT * FROM commits WHERE version <= ? ORDER BY version DESC LIMIT 16384) AS newest
      ) AS summed WHERE bytes <= ? ORDER BY version`;
    const rows: readonly unknown[] = await this.#rows(sql, this.#of.feed.version, mostBytes);
    return rows as (KeptCommit & { events: number })[];
  }

  /** Locks the log for the next commit, if other gateways are likely to write first. Returns what they have written. */
  lock(): Promise<readonly Commit[]> | undefined {
    return this.#of.isReachable() ? this.#writer.lock() : undefined;
  }

  async commit(batch: Batch): Promise<void> {
    this.#requireReachable();
    const told = await this.#writer.commit(batch);
    const { feed, gateway, isShared } = this.#of;
    if (isShared && told !== null) {
      this.#of.onCommitted({ version: feed.version, gateway, ...feed.head, told });
    }
  }

  async probe(): Promise<void> {
    this.#requireReachable();
    await this.#writer.probe();
  }

  /** Removes the commits up to this one. A gateway that has not followed them must start anew. */
  async forgetCommits(through: number): Promise<void> {
    await this.#rows('DELETE FROM commits WHERE version <= ?', through);
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    return this.#log.after(seq, limit);
  }

  latest(query: AuditQuery): Promise<AuditPage> {
    return this.#log.latest(query);
  }

  oldest(query: AuditQuery): Promise<AuditPage> {
    return this.#log.oldest(query);
  }

  async receipt(id: string): Promise<Receipt | undefined> {
    return (await this.#rows(controlQueries.receipt, id)).map(receiptsTable.itemOf)[0];
  }

  async receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    const sql = 'SELECT record FROM control_receipts WHERE id = ANY (?::text[])';
    return (await this.#rows(sql, arrayOf(ids))).map(receiptsTable.itemOf);
  }

  async receiptOf({ orgId, teamId, agentId }: AgentId, sequence: number): Promise<Receipt | undefined> {
    // Before all gateways counted together, two may have given the same number.
    const sql = `${controlQueries.receiptOf} ORDER BY requested_at DESC LIMIT 1`;
    return (await this.#rows(sql, orgId, teamId, agentId, sequence)).map(receiptsTable.itemOf)[0];
  }

  async bulk(id: string): Promise<BulkControl | undefined> {
    return (await this.#rows(controlQueries.bulk, id)).map(bulksTable.itemOf)[0];
  }

  async receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    return (await this.#rows(controlQueries.receiptsOfBulk, bulkId, after, limit)).map(receiptsTable.itemOf);
  }

  async countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    return countsOf(await this.#rows(controlQueries.countsOfBulk, bulkId));
  }

  async closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]> {
    const sql = 'SELECT record FROM closed_books WHERE name = ? AND period = ? ORDER BY id DESC LIMIT ?';
    const rows = await this.#rows(sql, tierKey(of), period, count);
    return rows.map(closedPeriodsTable.itemOf).reverse();
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }

  #rows(sql: string, ...values: SqlValue[]): Promise<readonly Row[]> {
    return this.#db.all(sql, ...values);
  }

  #requireReachable(): void {
    if (this.#of.isReachable()) return;
    throw new ReeveError('store_unavailable', 'the database cannot be reached');
  }
}

/** The rows that a start reads. Those with a record may be many and large. */
async function readRows<Item>(sql: SqlSession, reading: Reading<Item>): Promise<readonly Item[]> {
  const { table } = reading;
  const question = readingSql(reading);
  if (!('record' in table.columns)) return (await sql.all(question)).map((row) => table.itemOf(row));
  return eachRow(sql, question, Object.keys(table.key), (row) => table.itemOf(row));
}

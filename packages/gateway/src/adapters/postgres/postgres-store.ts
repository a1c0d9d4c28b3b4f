import type {
  AgentId,
  ApprovalReader,
  AuditPage,
  AuditQuery,
  AuditReader,
  PeoplePage,
  PeopleQuery,
  PeopleReader,
  UserRunsPage,
  UserRunsQuery,
  Batch,
  BulkControl,
  ClosedPeriod,
  Commit,
  KeptFacts,
  LoadedAccess,
  Period,
  PolicyStore,
  ReadRow,
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
  loadAccess,
  loadSnapshot,
  namedText,
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
import type { KeptCommit, SentCommit } from './commit-feed.ts';
import { eachRow } from './each-row.ts';
import { LongAgo } from './long-ago.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { postgresPolicies } from './postgres-policies.ts';
import { arrayOf } from './statement.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

/** How many commits a start reads at once. */
const commitsPerPage = 50;

export interface PostgresStoreOptions extends WriterOptions {
  readonly database: PostgresDatabase;
  /** Whether the database can be reached, as far as is known. */
  readonly isReachable: () => boolean;
  /** Called with every commit that this gateway has made, if others follow it. */
  readonly onCommitted: (commit: SentCommit) => void;
}

/** PostgreSQL as the store of one gateway, or of several that follow each other's commits. */
export class PostgresStore implements Store, AuditReader, PeopleReader {
  readonly #db: PostgresDatabase;
  readonly #of: PostgresStoreOptions;
  readonly #writer: Writer;
  readonly #log: AuditLog;
  readonly #followed = new LongAgo();
  /** The newest commit that `load` has read. */
  #loaded = 0;
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

  async load(): Promise<Snapshot> {
    if (this.#of.isShared) await this.#noteHead();
    return this.#db.snapshot(async (sql) => {
      const [head = {}] = await sql.all('SELECT version, seq, hash, events FROM chain');
      const chain = { seq: numberIn(head, 'seq'), hash: textIn(head, 'hash') };
      const version = numberIn(head, 'version');
      this.#loaded = version;
      const [noted] = await sql.all('SELECT gateway FROM commits WHERE version = ?', version);
      this.#of.feed.start({ ...chain, version, name: noted === undefined ? null : textIn(noted, 'gateway') });
      const snapshot = await loadSnapshot(chain, (reading, read) => readRows(sql, reading, read));
      const factsFrom = await firstKept(sql, version, chain.seq);
      return {
        ...snapshot,
        factsFrom,
        eventIdsReserved: Math.max(snapshot.eventIdsReserved, numberIn(head, 'events')),
      };
    });
  }

  /** Reads all credentials as they are now. */
  loadAccess(): Promise<LoadedAccess> {
    return this.#db.snapshot((sql) => loadAccess((reading, read) => readRows(sql, reading, read)));
  }

  /** Notes the newest commit, if a gateway made it that was alone. So there is always one to compare with later. */
  async #noteHead(): Promise<void> {
    const sql = `INSERT INTO commits (version, gateway, seq, hash, events, told)
      SELECT version, ?, seq, hash, events, ? FROM chain WHERE version > 0 ON CONFLICT DO NOTHING`;
    await this.#db.run(sql, `${this.#of.gateway}/0`, namedText(nothingTold));
  }

  /** The newest commits that are kept, for the events in them, up to the one that was loaded. Oldest first. */
  async recentCommits(mostBytes: number): Promise<readonly (KeptCommit & { readonly events: number })[]> {
    const sql = `SELECT version, gateway, seq, hash, told AS facts, events FROM (
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
    const made = await this.#writer.commit(batch);
    if (made !== null) this.#of.onCommitted(made);
  }

  async probe(): Promise<void> {
    this.#requireReachable();
    // A database that is back may have lost what this gateway rests on.
    await this.#of.feed.verify();
    await this.#writer.probe();
  }

  /** Of what others write after `load`, this gateway learns by following. */
  async factsAfter(position: number, seq: number): Promise<readonly KeptFacts[]> {
    const sql = `SELECT version, seq, told AS facts,
        COALESCE((SELECT seq FROM commits AS last WHERE last.version = c.version - 1), 0) AS before
      FROM commits AS c WHERE version > ? AND version <= ? AND seq > ? ORDER BY version LIMIT ${commitsPerPage}`;
    const rows = await this.#rows(sql, position, this.#loaded, seq);
    return rows.map((row) => ({
      position: numberIn(row, 'version'),
      before: numberIn(row, 'before'),
      seq: numberIn(row, 'seq'),
      facts: textIn(row, 'facts'),
    }));
  }

  /**
   * Removes the commits whose facts no start needs, once every gateway has had time to follow them. One that has not
   * must start anew. The last of them stays: a gateway may still stand on it and compares, and a start sees by it that none
   * after it is missing. What cannot be removed now goes with the next.
   */
  async forgetFacts(through: number): Promise<boolean> {
    const known = this.#followed.through(this.#of.feed.version);
    if (known === undefined) return false;
    const sql =
      'DELETE FROM commits WHERE version < (SELECT max(version) FROM commits WHERE version <= ? AND seq <= ?)';
    await this.#rows(sql, known, through).catch(() => undefined);
    return false;
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

  people(query: PeopleQuery): Promise<PeoplePage> {
    return this.#log.people(query);
  }

  runsOfUser(query: UserRunsQuery): Promise<UserRunsPage> {
    return this.#log.runsOfUser(query);
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

const nothingTold = { steps: [], touched: { agents: [], orgs: [], everything: false } };

/**
 * The entry from which on the commits are there without a gap. Releases that were alone on the database kept none, and a
 * gateway of an older release removes some that a start still needs.
 */
async function firstKept(sql: SqlSession, version: number, head: number): Promise<number> {
  const gap = `SELECT max(version) FROM commits AS c WHERE version <= ?
    AND NOT EXISTS (SELECT 1 FROM commits WHERE version = c.version - 1)`;
  const question = `SELECT CASE version WHEN 1 THEN 0 ELSE seq END AS seq FROM commits AS first WHERE version = (${gap})
    AND EXISTS (SELECT 1 FROM commits WHERE version = ?)`;
  const [first] = await sql.all(question, version, version);
  return first === undefined ? head : numberIn(first, 'seq');
}

/** The rows that a start reads. Those with a record may be many and large. */
async function readRows<Item>(
  sql: SqlSession,
  reading: Reading<Item>,
  read: ReadRow<Item>,
): Promise<readonly (Item | undefined)[]> {
  const { table } = reading;
  const question = readingSql(reading);
  if (!('record' in table.columns)) return (await sql.all(question)).map(read);
  return eachRow(sql, question, Object.keys(table.key), read);
}

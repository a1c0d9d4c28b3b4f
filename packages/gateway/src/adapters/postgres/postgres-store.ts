import type {
  AgentId,
  AgentRecord,
  ApiKeyRecord,
  ApprovalReader,
  AuditPage,
  AuditQuery,
  AuditReader,
  Batch,
  BulkControl,
  Mark,
  PolicyStore,
  Reading,
  Row,
  StoredVersion,
  ClosedPeriod,
  Period,
  Receipt,
  ReceiptStatus,
  SigningKeyRecord,
  Snapshot,
  Store,
  StoredEntry,
  TierOf,
} from '@reeve/core';
import {
  agentsTable,
  apiKeysTable,
  bulksTable,
  closedPeriodsTable,
  loadSnapshot,
  numberIn,
  optionalNumberIn,
  policyVersionsTable,
  readings,
  receiptsTable,
  ReeveError,
  signingKeysTable,
  textIn,
  tierKey,
} from '@reeve/core';
import { controlQueries, countsOf } from '../sql/control-queries.ts';
import { SqlApprovals } from '../sql/sql-approvals.ts';
import type { SqlSession, SqlValue } from '../sql/sql-database.ts';
import { readingSql } from '../sql/table-sql.ts';
import { AuditLog } from './audit-log.ts';
import type { ConnectionOptions } from './connection.ts';
import { eachRow } from './each-row.ts';
import { slotHolders } from './locks.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { postgresPolicies } from './postgres-policies.ts';
import type { Slot } from './slot.ts';
import { arrayOf } from './statement.ts';
import { ownRows } from './tables.ts';
import { Writer } from './writer.ts';

export interface PostgresStoreOptions {
  readonly connection: ConnectionOptions;
  readonly database: PostgresDatabase;
  readonly slot: Slot;
  /** `power`: a commit survives a power failure of the database server, whatever that server's settings. */
  readonly sync: 'process' | 'power';
  /** Called if the gateway must not go on. */
  readonly onFatal: (error: Error) => void;
}

/** All rows that every gateway on a database holds in memory. */
export interface SharedRows {
  readonly agents: readonly AgentRecord[];
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly signingKeys: readonly SigningKeyRecord[];
  /** The newest version of each stored document. */
  readonly policies: readonly StoredVersion[];
}

/** PostgreSQL as the store of one gateway among several, which share one chain, the agents and the keys. */
export class PostgresStore implements Store, AuditReader {
  readonly #db: PostgresDatabase;
  readonly #slot: Slot;
  readonly #writer: Writer;
  readonly #log: AuditLog;
  readonly policies: PolicyStore;
  readonly approvals: ApprovalReader;

  constructor({ connection, database, slot, sync, onFatal }: PostgresStoreOptions) {
    this.#db = database;
    this.policies = postgresPolicies(database);
    this.approvals = new SqlApprovals(database, () => slot.number);
    this.#slot = slot;
    this.#writer = new Writer(connection, slot, sync, onFatal);
    this.#log = new AuditLog(database, slot);
  }

  load(): Promise<Snapshot> {
    return this.#db.snapshot(async (sql) => {
      const [head = {}] = await sql.all('SELECT seq, hash FROM chain');
      const chain = { seq: numberIn(head, 'seq'), hash: textIn(head, 'hash') };
      return loadSnapshot(chain, (reading) => readRows(sql, reading, this.#slot.number));
    });
  }

  /** The rows that other gateways may have changed. */
  shared(): Promise<SharedRows> {
    return this.#db.snapshot(sharedRows);
  }

  async agents(ids: readonly AgentId[]): Promise<AgentRecord[]> {
    const keys = 'SELECT * FROM unnest(?::text[], ?::text[], ?::text[])';
    const columns = [ids.map((id) => id.orgId), ids.map((id) => id.teamId), ids.map((id) => id.agentId)];
    const sql = `SELECT * FROM agents WHERE (org_id, team_id, agent_id) IN (${keys})`;
    return (await this.#rows(sql, ...columns.map(arrayOf))).map(agentsTable.itemOf);
  }

  async apiKeys(ids: readonly string[]): Promise<ApiKeyRecord[]> {
    return (await this.#rows('SELECT * FROM api_keys WHERE id = ANY (?::text[])', arrayOf(ids))).map(
      apiKeysTable.itemOf,
    );
  }

  async signingKeys(kids: readonly string[]): Promise<SigningKeyRecord[]> {
    const sql = 'SELECT * FROM signing_keys WHERE kid = ANY (?::text[])';
    return (await this.#rows(sql, arrayOf(kids))).map(signingKeysTable.itemOf);
  }

  /** The newest versions of these documents. */
  async newestPolicies(names: readonly string[]): Promise<StoredVersion[]> {
    const sql = `SELECT DISTINCT ON (name) * FROM policy_versions WHERE name = ANY (?::text[])
      ORDER BY name, version DESC`;
    return (await this.#rows(sql, arrayOf(names))).map(policyVersionsTable.itemOf);
  }

  async commit(batch: Batch): Promise<void> {
    this.#requireSlot();
    await this.#writer.commit(batch);
  }

  async probe(): Promise<void> {
    this.#requireSlot();
    await this.#writer.probe();
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    return this.#log.after(seq, limit);
  }

  /** The entries after `seq` from which this gateway restores its operations. */
  replay(seq: number, limit: number): Promise<StoredEntry[]> {
    return this.#log.afterOfSlot(this.#slot.number, seq, limit);
  }

  /**
   * Up to this entry, no running gateway needs the log to restore its operations. 0 for all but the first gateway: one
   * is enough to cut the log.
   */
  async neededFrom(own: number): Promise<number> {
    const sql = `SELECT min(seat) AS first, min(ops_replay_from) FILTER (WHERE seat <> ?) AS seq
      FROM seats WHERE seat IN (SELECT seat FROM (${slotHolders}) AS held)`;
    const row = (await this.#rows(sql, this.#slot.number))[0] ?? {};
    if (row['first'] !== this.#slot.number) return 0;
    return typeof row['seq'] === 'number' ? Math.min(own, row['seq']) : own;
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
    const sql = `${controlQueries.receiptOf} AND seat = ?`;
    return (await this.#rows(sql, orgId, teamId, agentId, sequence, this.#slot.number)).map(receiptsTable.itemOf)[0];
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
    const sql = 'SELECT record FROM closed_books WHERE seat = ? AND name = ? AND period = ? ORDER BY id DESC LIMIT ?';
    const rows = await this.#rows(sql, this.#slot.number, tierKey(of), period, count);
    return rows.map(closedPeriodsTable.itemOf).reverse();
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }

  #rows(sql: string, ...values: SqlValue[]): Promise<readonly Row[]> {
    return this.#db.all(sql, ...values);
  }

  #requireSlot(): void {
    if (this.#slot.isHeld) return;
    throw new ReeveError('store_unavailable', 'the database cannot be reached');
  }
}

async function sharedRows(sql: SqlSession): Promise<SharedRows> {
  return {
    agents: await readRows(sql, readings.agents),
    apiKeys: await readRows(sql, readings.apiKeys),
    signingKeys: await readRows(sql, readings.signingKeys),
    policies: await readRows(sql, readings.policies),
  };
}

/** The rows that a start reads. If each gateway has its own rows in a table, it reads those of one slot. */
async function readRows<Item>(sql: SqlSession, reading: Reading<Item>, slot = 0): Promise<readonly Item[]> {
  const { table } = reading;
  if (table === readings.marks.table) return (await marksOf(sql, slot)) as Item[];
  const own = ownRows(table);
  const question = readingSql(reading, own);
  if (own === undefined) return (await sql.all(question)).map((row) => table.itemOf(row));
  if (!('record' in table.columns)) return (await sql.all(question, slot)).map((row) => table.itemOf(row));
  return eachRow(sql, question, slot, (row) => table.itemOf(row));
}

/** The marks of a gateway are in the row of its slot. */
async function marksOf(sql: SqlSession, slot: number): Promise<Mark[]> {
  const [mine = {}] = await sql.all('SELECT ops_replay_from, event_ids_reserved FROM seats WHERE seat = ?', slot);
  return Object.keys(mine).map((name) => ({ name, value: optionalNumberIn(mine, name) }));
}

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  AgentChange,
  AgentId,
  Batch,
  BulkControl,
  Change,
  ClosedPeriod,
  Period,
  Receipt,
  ReceiptStatus,
  Snapshot,
  Store,
  StoredEntry,
  TierOf,
} from '@reeve/core';
import { agentAfter, agentOfChange, emptyChain, EntryPage, tierKey } from '@reeve/core';
import { bulkOf, bulkValues, controlSql, countsOf, receiptOf, receiptValues, sequenceOf } from './control-rows.ts';
import {
  balancesOf,
  balancesOver,
  balanceValues,
  closedGivenUp,
  closedOf,
  closedSql,
  closedValues,
} from './balance-rows.ts';
import { approvalOf, approvalSql, approvalValues, grantOf, grantValues } from './approval-rows.ts';
import { migrate } from './migrate.ts';
import { lastGivenUp, policySql, setRecord, textsOfSet, versionOf, versionValues } from './policy-rows.ts';
import { SqlApprovals } from './sql-approvals.ts';
import type { SqlSession } from './sql-database.ts';
import { SqlPolicies } from './sql-policies.ts';
import type { SqliteOptions } from './open-sqlite.ts';
import { openSqlite } from './open-sqlite.ts';
import type { Row } from './sqlite-rows.ts';
import {
  agentOf,
  agentValues,
  apiKeyOf,
  apiKeyValues,
  entryOf,
  number,
  opOf,
  opValues,
  signingKeyOf,
  signingKeyValues,
  text,
} from './sqlite-rows.ts';

const keyUsed = 'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?';

/**
 * The embedded store. It is written synchronously: a commit is a few microseconds per entry, and nothing else may run
 * between the decision and its being durable. Checkpoints of the write-ahead log are left to a thread of their own.
 */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #sql = new Map<string, StatementSync>();
  readonly policies: SqlPolicies;
  readonly approvals: SqlApprovals;

  constructor(options: SqliteOptions) {
    this.#db = openSqlite(options, (db) => {
      db.exec('PRAGMA cache_size = -65536');
      migrate(db);
    });
    const reading: Pick<SqlSession, 'all'> = { all: (sql, ...values) => Promise.resolve(this.#all(sql, ...values)) };
    this.policies = new SqlPolicies(reading);
    this.approvals = new SqlApprovals(reading);
  }

  load(): Promise<Snapshot> {
    const newest = this.#all('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1')[0];
    const replayFrom = this.#all(`SELECT value FROM meta WHERE name = 'ops_replay_from'`)[0]?.['value'];
    return Promise.resolve({
      head: newest === undefined ? emptyChain : { seq: number(newest, 'seq'), hash: text(newest, 'hash') },
      agents: this.#each('SELECT * FROM agents', agentOf),
      apiKeys: this.#all('SELECT * FROM api_keys').map(apiKeyOf),
      signingKeys: this.#all('SELECT * FROM signing_keys').map(signingKeyOf),
      ops: this.#each('SELECT * FROM ops', opOf),
      opsReplayFrom: typeof replayFrom === 'string' ? Number(replayFrom) : null,
      receipts: this.#each(controlSql.openReceipts, receiptOf),
      bulkControls: this.#all(controlSql.rememberedBulks).map(bulkOf),
      controlSequences: this.#all(controlSql.sequences).map(sequenceOf),
      approvals: this.#each(approvalSql.live, approvalOf),
      grants: this.#each(approvalSql.unrevoked, grantOf),
      policies: this.#all(policySql.newest).map(versionOf),
      ...balancesOf(this.#all('SELECT name, record FROM books')),
      eventIdsReserved: Number(
        this.#all(`SELECT value FROM meta WHERE name = 'event_ids_reserved'`)[0]?.['value'] ?? 0,
      ),
    });
  }

  commit(batch: Batch): void {
    this.#transaction(() => {
      const insert = this.#prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
      for (const { seq, hash, canonical, draft } of batch.entries) {
        const { lineage } = draft;
        insert.run(
          seq,
          draft.at,
          draft.eventType,
          lineage.org_id,
          lineage.team_id,
          lineage.agent_id,
          draft.opId,
          draft.decision,
          draft.claimedOrgId ?? null,
          hash,
          canonical,
        );
      }
      for (const change of batch.changes) this.#apply(change);
    });
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    const sql = 'SELECT seq, hash, canonical FROM audit WHERE seq > ? ORDER BY seq LIMIT ?';
    const page = new EntryPage(limit, Buffer.byteLength);
    for (const row of this.#prepare(sql).iterate(seq, limit)) if (!page.offer(entryOf(row))) break;
    return Promise.resolve(page.entries);
  }

  receipt(id: string): Promise<Receipt | undefined> {
    return Promise.resolve(this.#all(controlSql.receipt, id).map(receiptOf)[0]);
  }

  receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    return Promise.resolve(ids.flatMap((id) => this.#all(controlSql.receipt, id).map(receiptOf)));
  }

  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined> {
    return Promise.resolve(this.#all(controlSql.receiptOf, ...idValues(agent), sequence).map(receiptOf)[0]);
  }

  bulk(id: string): Promise<BulkControl | undefined> {
    return Promise.resolve(this.#all(controlSql.bulk, id).map(bulkOf)[0]);
  }

  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    return Promise.resolve(this.#all(controlSql.receiptsOfBulk, bulkId, after, limit).map(receiptOf));
  }

  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    return Promise.resolve(countsOf(this.#all(controlSql.countsOfBulk, bulkId)));
  }

  closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]> {
    return Promise.resolve(this.#all(closedSql.newest, tierKey(of), period, count).map(closedOf).reverse());
  }

  probe(): void {
    this.#transaction(() => this.#run(`REPLACE INTO meta (name, value) VALUES ('probe', ?)`, String(Date.now())));
  }

  close(): Promise<void> {
    this.#sql.clear();
    this.#db.close();
    return Promise.resolve();
  }

  #apply(change: Change): void {
    switch (change.kind) {
      case 'agent_saved':
      case 'agent_controlled':
      case 'agent_suspended':
      case 'agent_resumed':
      case 'agent_removed':
        this.#changeAgent(change);
        break;
      case 'api_key_saved':
        this.#run('REPLACE INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', ...apiKeyValues(change.key));
        break;
      case 'api_key_used':
        this.#run(keyUsed, change.at, change.id);
        break;
      case 'signing_key_saved':
        this.#run('REPLACE INTO signing_keys VALUES (?, ?, ?, ?)', ...signingKeyValues(change.key));
        break;
      case 'signing_key_removed':
        this.#run('DELETE FROM signing_keys WHERE kid = ?', change.kid);
        break;
      case 'entries_removed':
        this.#run('DELETE FROM audit WHERE seq <= ?', change.through);
        break;
      case 'op_saved':
        this.#run('REPLACE INTO ops VALUES (?, ?, ?, ?, ?, ?)', ...opValues(change.op));
        break;
      case 'op_removed':
        this.#run(
          'DELETE FROM ops WHERE org_id = ? AND team_id = ? AND agent_id = ? AND op_id = ?',
          ...idValues(change.id),
          change.opId,
        );
        break;
      case 'balances_saved':
        for (const name of balancesOver(change)) this.#run('DELETE FROM books WHERE name = ?', name);
        for (const row of balanceValues(change)) this.#run('REPLACE INTO books (name, record) VALUES (?, ?)', ...row);
        for (const row of closedValues(change)) this.#run('REPLACE INTO closed_books VALUES (?, ?, ?, ?)', ...row);
        for (const row of closedGivenUp(change)) this.#run(closedSql.giveUp, ...row);
        break;
      case 'policy_saved':
        this.#run(policySql.saveVersion, ...versionValues(change.saved));
        this.#run(policySql.removeVersions, change.saved.name, lastGivenUp(change.saved));
        break;
      case 'policy_set_saved':
        this.#run(policySql.saveSet, change.set.version, setRecord(change.set));
        for (const text of textsOfSet(change.set)) this.#run(policySql.saveText, ...text);
        this.#run(policySql.removeTexts);
        this.#run(policySql.removeSets);
        break;
      case 'event_ids_reserved':
        this.#run(`REPLACE INTO meta (name, value) VALUES ('event_ids_reserved', ?)`, String(change.through));
        break;
      case 'owed_entry_recorded':
        this.#run('DELETE FROM owed_entries WHERE id = ?', change.id);
        break;
      case 'receipt_saved':
        this.#run(controlSql.saveReceipt, ...receiptValues(change.receipt));
        break;
      case 'bulk_control_saved':
        this.#run(controlSql.saveBulk, ...bulkValues(change.bulk));
        break;
      case 'control_sequence_saved':
        this.#run(controlSql.saveSequence, ...idValues(change.sequence.agent), change.sequence.sequence);
        break;
      case 'receipts_removed':
        this.#run(controlSql.removeReceipts, change.before, change.most);
        this.#run(controlSql.removeBulks, change.before, change.most);
        break;
      case 'approval_saved':
        this.#run(approvalSql.save, ...approvalValues(change.approval));
        break;
      case 'grant_saved':
        this.#run(approvalSql.saveGrant, ...grantValues(change.grant));
        break;
      case 'approvals_removed':
        this.#run(approvalSql.removeOld, change.before, change.most);
        this.#run(approvalSql.removeBeyond, change.most, change.kept);
        this.#run(approvalSql.removeGrants, change.before, change.most);
        break;
      case 'ops_replay_from':
        this.#run(`REPLACE INTO meta (name, value) VALUES ('ops_replay_from', ?)`, String(change.seq));
        break;
      case 'ops_forgotten':
        this.#run('DELETE FROM ops');
        this.#run(`REPLACE INTO meta (name, value) VALUES ('ops_replay_from', NULL)`);
        break;
    }
  }

  #changeAgent(change: AgentChange): void {
    const one = 'FROM agents WHERE org_id = ? AND team_id = ? AND agent_id = ?';
    const id = idValues(agentOfChange(change));
    const agent = agentAfter(this.#all(`SELECT * ${one}`, ...id).map(agentOf)[0], change);
    if (agent === undefined) this.#run(`DELETE ${one}`, ...id);
    else this.#run(`REPLACE INTO agents VALUES (${agentValues(agent).fill('?').join(', ')})`, ...agentValues(agent));
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

  #run(sql: string, ...values: (string | number | null)[]): void {
    this.#prepare(sql).run(...values);
  }

  /** Row by row, so that all of them are never there as they were stored. */
  #each<Item>(sql: string, itemOf: (row: Row) => Item): Item[] {
    const items: Item[] = [];
    for (const row of this.#prepare(sql).iterate()) items.push(itemOf(row));
    return items;
  }

  #all(sql: string, ...values: (string | number | null)[]): Row[] {
    return this.#prepare(sql).all(...values);
  }
}

function idValues(id: AgentId): string[] {
  return [id.orgId, id.teamId, id.agentId];
}

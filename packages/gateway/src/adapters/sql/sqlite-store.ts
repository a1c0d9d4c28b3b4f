import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import type { AgentId, Batch, Change, Snapshot, Store, StoredEntry } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { migrate } from './migrate.ts';
import type { Row } from './sqlite-rows.ts';
import {
  agentOf,
  agentValues,
  apiKeyOf,
  apiKeyValues,
  number,
  opOf,
  opValues,
  signingKeyOf,
  signingKeyValues,
  text,
} from './sqlite-rows.ts';

export interface SqliteOptions {
  readonly path: string;
  /** `process`: a commit survives the end of the process. `power`: it survives the end of the power, too. */
  readonly sync: 'process' | 'power';
}

/**
 * The embedded store. It is written synchronously: a commit is a few microseconds per entry, and nothing else may run
 * between the decision and its being durable. Checkpoints of the write-ahead log are left to a thread of their own.
 */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #sql = new Map<string, StatementSync>();

  constructor(options: SqliteOptions) {
    this.#db = new DatabaseSync(options.path);
    this.#db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${options.sync === 'power' ? 'FULL' : 'NORMAL'};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -65536;
      PRAGMA temp_store = MEMORY;
    `);
    migrate(this.#db);
  }

  load(): Promise<Snapshot> {
    const newest = this.#all('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1')[0];
    const replayFrom = this.#all(`SELECT value FROM meta WHERE name = 'ops_replay_from'`)[0]?.['value'];
    return Promise.resolve({
      head: newest === undefined ? emptyChain : { seq: number(newest, 'seq'), hash: text(newest, 'hash') },
      agents: this.#all('SELECT * FROM agents').map(agentOf),
      apiKeys: this.#all('SELECT * FROM api_keys').map(apiKeyOf),
      signingKeys: this.#all('SELECT * FROM signing_keys').map(signingKeyOf),
      ops: this.#all('SELECT * FROM ops').map(opOf),
      opsReplayFrom: typeof replayFrom === 'string' ? Number(replayFrom) : null,
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
    const rows = this.#all('SELECT seq, hash, canonical FROM audit WHERE seq > ? ORDER BY seq LIMIT ?', seq, limit);
    return Promise.resolve(rows.map(entryOf));
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
        this.#run('REPLACE INTO agents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', ...agentValues(change.agent));
        break;
      case 'agent_removed':
        this.#run('DELETE FROM agents WHERE org_id = ? AND team_id = ? AND agent_id = ?', ...idValues(change.id));
        break;
      case 'api_key_saved':
        this.#run('REPLACE INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', ...apiKeyValues(change.key));
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
      case 'ops_replay_from':
        this.#run(`REPLACE INTO meta (name, value) VALUES ('ops_replay_from', ?)`, String(change.seq));
        break;
      case 'ops_forgotten':
        this.#run('DELETE FROM ops');
        this.#run(`REPLACE INTO meta (name, value) VALUES ('ops_replay_from', NULL)`);
        break;
    }
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

  #all(sql: string, ...values: (string | number)[]): Row[] {
    return this.#prepare(sql).all(...values);
  }
}

function idValues(id: AgentId): string[] {
  return [id.orgId, id.teamId, id.agentId];
}

function entryOf(row: Row): StoredEntry {
  return { seq: number(row, 'seq'), hash: text(row, 'hash'), canonical: text(row, 'canonical') };
}

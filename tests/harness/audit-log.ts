import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoredLog } from '../../packages/gateway/src/adapters/sql/stored-log.ts';
import { databaseOf } from './databases.ts';

/** An audit entry in stored form. */
export interface LoggedEntry {
  readonly seq: number;
  readonly at: string;
  readonly event_type: string;
  readonly lineage: {
    readonly org_id: string | null;
    readonly team_id: string;
    readonly agent_id: string;
    readonly root_agent_id: string;
    readonly parent_agent_id: string | null;
    readonly depth: number;
  };
  readonly actor: { readonly kind: string; readonly id: string; readonly label: string };
  readonly op_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly prev_hash: string;
  readonly hash: string;
}

/** Reads the entries of a gateway's store, oldest first. */
export function readAuditLog(folder: string): LoggedEntry[] {
  const url = databaseOf(folder);
  if (url !== undefined) return readFromDatabase(url).map(entryOf);
  const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  try {
    // One state of the file: entries move from rows into blocks.
    db.exec('BEGIN');
    return [...new StoredLog(db).after(0)].map(({ hash, canonical }) => entryOf({ hash, canonical }));
  } finally {
    db.close();
  }
}

function entryOf(row: Record<string, unknown>): LoggedEntry {
  return { ...(JSON.parse(String(row['canonical'])) as LoggedEntry), hash: String(row['hash']) };
}

/** Runs in a process of its own, because a test wants everything synchronously. */
function readFromDatabase(url: string): Record<string, unknown>[] {
  const script = `
    import pg from 'pg';
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
    await client.connect();
    const { rows } = await client.query('SELECT hash, canonical FROM audit ORDER BY seq');
    await client.end();
    process.stdout.write(JSON.stringify(rows));`;
  const env = { ...process.env, DATABASE_URL: url };
  const args = ['--input-type=module', '--eval', script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`the log cannot be read: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** An audit entry as it is kept. */
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

/** Reads the entries of a gateway's data folder, oldest first. */
export function readAuditLog(folder: string): LoggedEntry[] {
  const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  try {
    const rows = db.prepare('SELECT hash, canonical FROM audit ORDER BY seq').all();
    return rows.map((row) => ({ ...(JSON.parse(String(row['canonical'])) as LoggedEntry), hash: String(row['hash']) }));
  } finally {
    db.close();
  }
}

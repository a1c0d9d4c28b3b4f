import type { Json } from '../audit/canonical-json.ts';
import type { Actor, Lineage } from '../audit/entry.ts';
import type { AuditEventType } from '../audit/event-types.ts';
import type { StoredEntry } from '../audit/audit-reader.ts';

/** An audit entry as a reader of the log sees it (contract, section 8). */
export interface LoggedEntry {
  readonly seq: number;
  readonly at: string;
  readonly event_type: AuditEventType;
  readonly lineage: Lineage;
  readonly actor: Actor;
  readonly op_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly decision: 'allow' | 'deny' | 'pending' | null;
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: { readonly [member: string]: Json };
  readonly prev_hash: string;
}

export function parseEntry(stored: StoredEntry): LoggedEntry {
  return JSON.parse(stored.canonical) as LoggedEntry;
}

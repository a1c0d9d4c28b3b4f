import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { SealedEntry } from '../audit/entry.ts';
import type { OpRecord } from '../ops/op.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { AgentId } from '../tenancy/agent-id.ts';

/** A row to be written together with the entries of its tick. */
export type Change =
  | { readonly kind: 'agent_saved'; readonly agent: AgentRecord }
  | { readonly kind: 'agent_removed'; readonly id: AgentId }
  | { readonly kind: 'api_key_saved'; readonly key: ApiKeyRecord }
  | { readonly kind: 'signing_key_saved'; readonly key: SigningKeyRecord }
  | { readonly kind: 'signing_key_removed'; readonly kid: string }
  | { readonly kind: 'op_saved'; readonly op: SavedOp }
  | { readonly kind: 'op_removed'; readonly id: AgentId; readonly opId: string }
  /** After which entry a restart replays the log to bring operations back. */
  | { readonly kind: 'ops_replay_from'; readonly seq: number }
  /** Operations are not to survive a restart: neither rows nor replay. */
  | { readonly kind: 'ops_forgotten' }
  /** Retention: entries up to this one are given up. */
  | { readonly kind: 'entries_removed'; readonly through: number };

/** An operation as the store remembers it, with the entry that it is true as of. */
export interface SavedOp extends OpRecord {
  readonly seq: number;
}

/** All that one tick makes durable, or nothing of it. */
export interface Batch {
  readonly entries: readonly SealedEntry[];
  readonly changes: readonly Change[];
}

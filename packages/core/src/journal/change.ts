import type { ApiKeyRecord } from '../access/api-key.ts';
import type { Width } from '../access/authority.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { Approval } from '../approvals/approval.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import type { SealedEntry } from '../audit/entry.ts';
import type { BulkControl } from '../control/bulk-control.ts';
import type { ControlSequence } from '../control/control-reader.ts';
import type { Receipt } from '../ops/receipt.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { ClosedBooks, SavedBooks } from '../budget/books.ts';
import type { Period } from '../budget/period.ts';
import type { BooksMark } from '../budget/recover-books.ts';
import type { TierOf } from '../budget/tier.ts';
import type { OpRecord } from '../ops/op.ts';
import type { PolicySetRecord } from '../policy/policy-history.ts';
import type { PolicyVersion } from '../policy/store/policy-version.ts';
import type { AgentRecord, Suspension } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';

/** A row to be written together with the entries of its tick. */
export type Change =
  | AgentChange
  | { readonly kind: 'api_key_saved'; readonly key: ApiKeyRecord }
  /** A key was used; whatever else is known of it stays, such as that another gateway has revoked it meanwhile. */
  | { readonly kind: 'api_key_used'; readonly id: string; readonly at: EpochMs }
  | { readonly kind: 'signing_key_saved'; readonly key: SigningKeyRecord }
  | { readonly kind: 'signing_key_removed'; readonly kid: string }
  | { readonly kind: 'op_saved'; readonly op: SavedOp }
  | { readonly kind: 'op_removed'; readonly id: AgentId; readonly opId: string }
  /** After which entry a restart replays the log to bring operations back. */
  | { readonly kind: 'ops_replay_from'; readonly seq: number }
  /** Operations are not to survive a restart: neither rows nor replay. */
  | { readonly kind: 'ops_forgotten' }
  | { readonly kind: 'receipt_saved'; readonly receipt: Receipt }
  | { readonly kind: 'bulk_control_saved'; readonly bulk: BulkControl }
  | { readonly kind: 'control_sequence_saved'; readonly sequence: ControlSequence }
  /**
   * Retention: up to `most` receipts, and as many scoped controls, that were requested before are given up. Those that
   * wait, that block, or whose operation has a row stay.
   */
  | { readonly kind: 'receipts_removed'; readonly before: EpochMs; readonly most: number }
  /** Ids of events up to this one may have been given out: the next run starts after it. */
  /** What was spent, up to an entry: books that have changed, and those of which nothing is left to say. */
  | {
      readonly kind: 'books_saved';
      readonly saved: readonly SavedBooks[];
      readonly over: readonly TierOf[];
      /** What tiers have spent in days and months that are over. */
      readonly closed: readonly ClosedBooks[];
      /** Such days and months are given up before these; null: all stay. */
      readonly closedBefore: Readonly<Record<Period, string>> | null;
      readonly asOf: BooksMark;
    }
  | { readonly kind: 'event_ids_reserved'; readonly through: number }
  | { readonly kind: 'approval_saved'; readonly approval: Approval }
  | { readonly kind: 'grant_saved'; readonly grant: StandingGrant }
  /**
   * Retention: up to `most` approvals that have nothing left to do are given up, those decided before and those beyond
   * the newest `kept`; and as many grants that have ended before.
   */
  | {
      readonly kind: 'approvals_removed';
      readonly before: EpochMs;
      readonly kept: number;
      readonly most: number;
    }
  /** A version of a stored document. The oldest are given up when there are too many. */
  | { readonly kind: 'policy_saved'; readonly saved: PolicyVersion }
  /** What is in force from now on, to be found later by its version. The oldest sets are given up. */
  | { readonly kind: 'policy_set_saved'; readonly set: PolicySetRecord }
  /** Retention: entries up to this one are given up. */
  | { readonly kind: 'entries_removed'; readonly through: number }
  /** An entry that a change of accounts owed to the log stands in it now. */
  | { readonly kind: 'owed_entry_recorded'; readonly id: string };

/**
 * Each says only what it is about, and the rest of the agent's row stays: another gateway may have changed that, and this
 * one not know it yet. `agentAfter` is the rule for all stores.
 */
export type AgentChange =
  /** It was registered. A suspension is left as it is stored, and `registeredWith` only grows. */
  | { readonly kind: 'agent_saved'; readonly agent: AgentRecord }
  /** It has opened a control stream with this token. */
  | { readonly kind: 'agent_controlled'; readonly id: AgentId; readonly tokenHash: string }
  /** It was suspended, or its suspension widened. Of two, the wider one stays. An agent that has left leaves no token. */
  | { readonly kind: 'agent_suspended'; readonly agent: AgentRecord; readonly suspension: Suspension }
  /** A credential of this width has resumed it: what a wider one has imposed stays. */
  | { readonly kind: 'agent_resumed'; readonly id: AgentId; readonly width: Width }
  /** It has left. What is known of one that is suspended stays without a token, and so it does where `isKept`. */
  | { readonly kind: 'agent_removed'; readonly id: AgentId; readonly isKept: boolean };

/** An operation as the store remembers it, with the entry that it is true as of. */
export interface SavedOp extends Omit<OpRecord, 'control' | 'stale'> {
  readonly seq: number;
  /** Its last control. The receipt has a row of its own, which goes on changing. */
  readonly controlId: string | null;
}

/** All that one tick makes durable, or nothing of it. */
export interface Batch {
  readonly entries: readonly SealedEntry[];
  readonly changes: readonly Change[];
}

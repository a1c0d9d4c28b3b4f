import type { AgentId, EpochMs } from '../kernel/index.ts';
import { withKeptTexts } from '../kernel/index.ts';
import type { OpRecord } from './op.ts';
import { bareRecord } from './op.ts';

/** The facts of operations that no live view gets. */
export type OpsChange =
  | { readonly kind: 'op_saved'; readonly op: SavedOp }
  | { readonly kind: 'op_removed'; readonly id: AgentId; readonly opId: string }
  /** A restart replays the log after this entry to restore operations. */
  | { readonly kind: 'ops_replay_from'; readonly seq: number }
  /** An operation waits for people. The log says so, and other gateways are told: no event shows what it is about. */
  | { readonly kind: 'op_asked'; readonly op: OpRecord }
  /** Somebody has asked about what an operation brought back. */
  | { readonly kind: 'op_result_judged'; readonly id: AgentId; readonly opId: string }
  /** Operations shall not survive a restart, neither by rows nor by replay. */
  | { readonly kind: 'ops_forgotten' };

/** An operation as the store keeps it, with the entry up to which it is current. */
export interface SavedOp extends Omit<OpRecord, 'control' | 'stale'> {
  readonly seq: number;
  /** The last control. Its receipt has a row of its own, which goes on changing. */
  readonly controlId: string | null;
}

/** Bounds the texts of a stored operation, so that they cannot fill the memory of a gateway at start. */
export function boundedOp(op: SavedOp): SavedOp {
  return withKeptTexts(op, ['resource', 'summary', 'reason']);
}

/** What a start restores for operations before it replays the log. */
export interface OpsSnapshot {
  readonly ops: Iterable<SavedOp>;
  /** A start replays the log after this entry to restore operations. Null: it restores none. */
  readonly opsReplayFrom: number | null;
}

/** What live views are shown of a check that decides at once, beside the operation in its new state. */
export const checksShown = ['decision', 'arrival and decision'] as const;
export type CheckShown = (typeof checksShown)[number];

/** An operation became known or has moved. */
export interface OpsChangeEvent {
  readonly type: 'ops_change';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly op: OpRecord;
  /** It is the first check of the operation, and decides it: its run has one check more. */
  readonly checked?: true;
  /** The decision comes after the operation in its new state. Before it comes the arrival of one that nobody knew. */
  readonly shows?: CheckShown;
  /** The day on which the cost counts, if the move settled one. */
  readonly booked?: string;
}

/** The arrival of an operation that was decided at once: what was known of it before. */
export function arrivalOf({ op: { agent, opId, registeredAt: at } }: OpsChangeEvent): OpsChangeEvent {
  return { type: 'ops_change', at, agent, op: bareRecord(agent, opId, at) };
}

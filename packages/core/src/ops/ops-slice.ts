import type { AgentId, EpochMs } from '../kernel/index.ts';
import { withKeptTexts } from '../kernel/index.ts';
import type { OpRecord, Op } from './op.ts';
import { recordOf } from './op.ts';

/** The event of a transition, ingest included: the operation as it is right after it. */
export function opsChange(op: Op): OpsChangeEvent {
  return { type: 'ops_change', at: op.updatedAt, agent: op.owner.record.id, op: recordOf(op) };
}

/** The rows that operations write. */
export type OpsChange =
  | { readonly kind: 'op_saved'; readonly op: SavedOp }
  | { readonly kind: 'op_removed'; readonly id: AgentId; readonly opId: string }
  /** After which entry a restart replays the log to bring operations back. */
  | { readonly kind: 'ops_replay_from'; readonly seq: number }
  /** Operations are not to survive a restart: neither rows nor replay. */
  | { readonly kind: 'ops_forgotten' };

/** An operation as the store remembers it, with the entry that it is true as of. */
export interface SavedOp extends Omit<OpRecord, 'control' | 'stale'> {
  readonly seq: number;
  /** Its last control. The receipt has a row of its own, which goes on changing. */
  readonly controlId: string | null;
}

/** As it is read: nothing that is stored fills the memory of a gateway that starts. */
export function boundedOp(op: SavedOp): SavedOp {
  return withKeptTexts(op, ['resource', 'summary', 'reason']);
}

/** What a start brings back of operations, before it replays the log. */
export interface OpsSnapshot {
  readonly ops: readonly SavedOp[];
  /** After which entry operations are brought back by replaying the log; null: they are not. */
  readonly opsReplayFrom: number | null;
}

/** An operation became known or has moved. */
export interface OpsChangeEvent {
  readonly type: 'ops_change';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly op: OpRecord;
  /** The day that its cost was booked to, where the move has settled one. */
  readonly booked?: string;
}

import type { ActionType } from '../action/action.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { OpState } from './lifecycle.ts';
import type { Receipt } from './receipt.ts';
import type { Agent } from '../tenancy/agent.ts';

/** What is remembered of an operation, whoever asks. */
export interface OpRecord {
  /** `<trace_id>:<span_id>` */
  readonly opId: string;
  readonly agent: AgentId;
  readonly state: OpState;
  readonly registeredAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly actionType: ActionType | null;
  /** Tool, model, host, path or command. */
  readonly resource: string;
  readonly summary: string;
  readonly runId: string;
  readonly reason: string;
  readonly costMicros: number;
  /** What budgets hold back for it: its cost, until it is settled or released. */
  readonly reservedMicros: number;
  readonly policyRule: string;
  /** Digest of the action it was decided for; empty until its first check. */
  readonly digest: string;
  /** Its last control. */
  readonly control: Receipt | null;
  /** It runs, as far as is known, but nothing has been heard of its agent for long. */
  readonly stale: boolean;
}

/** An operation in the registry. */
export interface Op {
  readonly opId: string;
  readonly owner: Agent;
  /** Its place in the order in which operations became known here: lists are cut by it. */
  ordinal: number;
  state: OpState;
  readonly registeredAt: EpochMs;
  updatedAt: EpochMs;
  /** When it last moved, on the clock that never jumps. */
  movedAt: number;
  actionType: ActionType | null;
  resource: string;
  summary: string;
  runId: string;
  reason: string;
  costMicros: number;
  reservedMicros: number;
  policyRule: string;
  digest: string;
  control: Receipt | null;
  /** Its agent has fallen silent. Only of one that runs is this told. */
  stale: boolean;
  /** Sequence of the audit entry that last changed it. */
  seq: number;
  /** `seq` at the time its row was last written to the store; 0 where it has no row. */
  savedSeq: number;
}

export function recordOf(op: Op): OpRecord {
  return {
    opId: op.opId,
    agent: op.owner.record.id,
    state: op.state,
    registeredAt: op.registeredAt,
    updatedAt: op.updatedAt,
    actionType: op.actionType,
    resource: op.resource,
    summary: op.summary,
    runId: op.runId,
    reason: op.reason,
    costMicros: op.costMicros,
    reservedMicros: op.reservedMicros,
    policyRule: op.policyRule,
    digest: op.digest,
    control: op.control,
    stale: op.stale && op.state === 'running',
  };
}

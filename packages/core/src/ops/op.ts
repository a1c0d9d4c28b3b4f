import type { EpochMs } from '../kernel/clock.ts';
import type { ActionType } from '../decision/action.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import type { OpState } from './lifecycle.ts';

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
  readonly policyRule: string;
  /** Digest of the action it was decided for; empty until its first check. */
  readonly digest: string;
}

/** An operation in the registry. */
export interface Op {
  readonly opId: string;
  readonly owner: Agent;
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
  policyRule: string;
  digest: string;
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
    policyRule: op.policyRule,
    digest: op.digest,
  };
}

/** Takes a change back, where the turn it belongs to could not be made durable. */
export type Undo = () => void;

import type { ActionType } from '../action/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { Receipt } from './receipt.ts';
import type { Agent } from '../tenancy/index.ts';

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

/** The states and moves of an operation, read beside the specification's table. */
export type OpState = 'pending' | 'running' | 'paused' | 'completing' | 'terminated';
export type OpTrigger = 'allow' | 'pause' | 'resume' | 'complete' | 'terminate';

export const lifecycle = {
  pending: { allow: 'running', terminate: 'terminated' },
  running: { pause: 'paused', complete: 'completing', terminate: 'terminated' },
  paused: { resume: 'running', terminate: 'terminated' },
  completing: {},
  terminated: { terminate: 'terminated' },
} as const satisfies Record<OpState, Partial<Record<OpTrigger, OpState>>>;

export const opStates = Object.keys(lifecycle) as readonly OpState[];

const moves: Readonly<Record<OpState, Partial<Record<OpTrigger, OpState>>>> = lifecycle;

/** Where a trigger leads, or undefined where the table has no such move. */
export function nextState(from: OpState, trigger: OpTrigger): OpState | undefined {
  return moves[from][trigger];
}

export function allowedTriggers(from: OpState): readonly OpTrigger[] {
  return Object.keys(moves[from]) as OpTrigger[];
}

/** Over: only the sweep follows. */
export function isOver(state: OpState): boolean {
  return state === 'completing' || state === 'terminated';
}

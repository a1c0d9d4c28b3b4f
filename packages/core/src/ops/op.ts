import type { ActionType, Via } from '../action/index.ts';
import type { TokenUsage } from '../budget/index.ts';
import type { EpochMs, AgentId, Part } from '../kernel/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { noLabels } from '../runs/index.ts';
import type { OpState } from './lifecycle.ts';
import { isOver } from './lifecycle.ts';
import type { OpRewrite } from './op-rewrite.ts';
import type { Receipt } from './receipt.ts';
import type { ResultDuty } from './result-duty.ts';
import type { Agent } from '../tenancy/index.ts';

/** What a model call did use, as far as it was reported. */
export type OpUsage = { readonly [Member in keyof TokenUsage]: number | null };

/** What is known about an operation and can change without a move. The record and the registry have all of it. */
export interface OpMembers {
  readonly actionType: ActionType | null;
  /** Tool, model, host, path or command. */
  readonly resource: string;
  readonly summary: string;
  readonly runId: string;
  /** The ids of the agents on whose behalf the operation was checked: its charges count for them, too. */
  readonly delegators: readonly string[];
  /** The door that the action came through. Null: the agent asked by itself, or nobody has asked yet. */
  readonly via: Via | null;
  readonly reason: string;
  readonly costMicros: number;
  /** What budgets reserve for the operation: its cost, until that is settled or released. */
  readonly reservedMicros: number;
  /** Null until the operation is completed with it. */
  readonly usage: OpUsage | null;
  readonly policyRule: string;
  /** Digest of the action that was decided; empty until the first check. */
  readonly digest: string;
  /** The labels that are given once people allow it. */
  readonly owedLabels: readonly OwedLabel[];
  /** Null if the action runs as it was sent. */
  readonly rewrite: OpRewrite | null;
  /** The last control of the operation. */
  readonly control: Receipt | null;
  /** Its agent has been silent for long. A record says so only of an operation that runs, as far as is known. */
  readonly stale: boolean;
  /** The kernel holds what runs, by whoever asked: the kernel's word about it counts. */
  readonly floor: boolean;
  /** Null if no rule on results could match what it brings back. */
  readonly resultDuty: ResultDuty | null;
}

/** What many operations have in common: agents use the same tools under the same rules again and again. */
export type OpTraits = Pick<
  OpMembers,
  | 'actionType'
  | 'resource'
  | 'delegators'
  | 'via'
  | 'reason'
  | 'policyRule'
  | 'owedLabels'
  | 'rewrite'
  | 'control'
  | 'stale'
  | 'floor'
  | 'resultDuty'
>;

/** What a move changes. */
interface OpStage {
  /** `<trace_id>:<span_id>` */
  readonly opId: string;
  readonly state: OpState;
  readonly registeredAt: EpochMs;
  readonly updatedAt: EpochMs;
}

/** What is known about an operation, whoever asks. */
export interface OpRecord extends OpStage, OpMembers {
  readonly agent: AgentId;
}

/**
 * An operation in the registry. Only the registry changes it (`OpsRegistry.put`, `OpsRegistry.change`): it notes that the
 * row is out of date. A change beside it would be missing in the row, and so after a restart.
 */
export interface Op extends OpStage, OpMembers {
  /** The members that other operations have, too. */
  readonly traits: OpTraits;
  /** How long after `registeredAt` it was updated. */
  readonly updatedAfterMs: number;
  readonly owner: Agent;
  /** Lists are paged by it. It is the same at all gateways on a log. */
  readonly ordinal: number;
  /** The order in which operations became known here. */
  readonly arrival: number;
  /** When the operation last moved, on the monotonic clock. */
  readonly movedAt: number;
  /** Sequence of the audit entry that last changed the operation. */
  readonly seq: number;
  /** Whether the operation has ended, and that is durable: it can be forgotten. */
  readonly hasEnded: boolean;
  /** `seq` when the row was last written to the store; 0 if there is no row. */
  readonly savedSeq: number;
  /** Where the operation is among those of its agent. */
  readonly ownPart: Part<Op> | undefined;
  /** Since when the row is missing or out of date, on the monotonic clock. */
  readonly unsavedSince: number;
  /** Where the operation is among those without an up-to-date row, and among those that were never checked. */
  readonly unsavedPart: Part<Op> | undefined;
  readonly uncheckedPart: Part<Op> | undefined;
}

/** The members of an operation as they are. */
export function membersOf(op: OpMembers): OpMembers {
  return {
    actionType: op.actionType,
    resource: op.resource,
    summary: op.summary,
    runId: op.runId,
    delegators: op.delegators,
    via: op.via,
    reason: op.reason,
    costMicros: op.costMicros,
    reservedMicros: op.reservedMicros,
    usage: op.usage,
    policyRule: op.policyRule,
    digest: op.digest,
    owedLabels: op.owedLabels,
    rewrite: op.rewrite,
    control: op.control,
    stale: op.stale,
    floor: op.floor,
    resultDuty: op.resultDuty,
  };
}

/** The same members as they are. */
export function membersLike(members: Partial<OpMembers>, op: Op): Partial<OpMembers> {
  const same: Partial<Record<keyof OpMembers, unknown>> = {};
  for (const member of Object.keys(members) as (keyof OpMembers)[]) same[member] = op[member];
  return same as Partial<OpMembers>;
}

/** A row names the last control, and not what became of it. It does not say whether the agent is silent. */
export function changesRow({ control }: Op, members: Partial<OpMembers>): boolean {
  for (const member in members) {
    if (member === 'stale' || (member === 'control' && members.control?.id === control?.id)) continue;
    return true;
  }
  return false;
}

/** Nearly all agents act for nobody. */
export const noDelegators: readonly string[] = [];

/** An operation of which nothing is known yet but that it is there. */
export function bareRecord(agent: AgentId, opId: string, at: EpochMs): OpRecord {
  return {
    opId,
    agent,
    state: 'pending',
    registeredAt: at,
    updatedAt: at,
    actionType: null,
    resource: '',
    summary: '',
    runId: '',
    delegators: noDelegators,
    via: null,
    reason: '',
    costMicros: 0,
    reservedMicros: 0,
    usage: null,
    policyRule: '',
    digest: '',
    owedLabels: noLabels,
    rewrite: null,
    control: null,
    stale: false,
    floor: false,
    resultDuty: null,
  };
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
    delegators: op.delegators,
    via: op.via,
    reason: op.reason,
    costMicros: op.costMicros,
    reservedMicros: op.reservedMicros,
    usage: op.usage,
    policyRule: op.policyRule,
    digest: op.digest,
    owedLabels: op.owedLabels,
    rewrite: op.rewrite,
    control: op.control,
    stale: op.stale && op.state === 'running',
    floor: op.floor,
    resultDuty: op.resultDuty,
  };
}

/** Whether an operation was registered and waits for its first check. */
export function isUnchecked({ state, digest }: Op): boolean {
  return state === 'pending' && digest === '';
}

/** Whether a record is of another operation with the same id: the known one was forgotten where the record was made. */
export function isAnother(known: Op, record: Pick<OpRecord, 'state' | 'registeredAt'>): boolean {
  return record.registeredAt !== known.registeredAt || (isOver(known.state) && !isOver(record.state));
}

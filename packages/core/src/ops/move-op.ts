import type { Housekeeping } from './checkpoint.ts';
import { removeRowsOf } from './checkpoint.ts';
import type { Operations } from './operations.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { Json, Actor } from '../audit/index.ts';
import { announce, traceIdsIn } from '../kernel/index.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
import { noteApproached } from '../budget/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { giveLabels, noLabels } from '../runs/index.ts';
import type { Agent, Leaving } from '../tenancy/index.ts';
import { requireReadInFull, usedBy } from '../tenancy/index.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { Op, OpRecord } from './op.ts';
import { isOver } from './lifecycle.ts';
import { recordOf } from './op.ts';
import { inRun } from './op-in-run.ts';
import { tiersOfOp } from './ops-facts.ts';
import type { Receipt } from './receipt.ts';

/** Who moves an operation, and why. */
export interface MoveCause {
  readonly actor: Actor;
  readonly reason: string;
  readonly details?: { readonly [member: string]: Json };
  /** The control that causes the move, if any. */
  readonly control?: Receipt;
  /** What the action did cost and use, if the move completes it. */
  readonly completion?: Pick<OpRecord, 'costMicros' | 'usage'>;
  /** The approval whose outcome the move is, if any. */
  readonly approvalId?: string;
  /** The labels that count because nobody has asked about the result. */
  readonly labels?: readonly OwedLabel[];
}

/**
 * A transition without a decision: by an operator, by the agent's report, by expiry. It applies one `ops_change` and records
 * one `OpStateChanged`. If nothing changes, it does neither.
 */
export function moveOp(gov: Operations, op: Op, trigger: OpTrigger, by: MoveCause): void {
  const { state: from } = op;
  // What it did cost counts for every delegation above, and what counts for one is written as a whole.
  if (trigger === 'complete' && op.delegators.length > 0) requireReadInFull(gov.directory, op.owner);
  const to = destination(gov, op, trigger);
  if (to === from) return;
  const { costMicros = op.costMicros, usage = op.usage } = by.completion ?? {};
  const booked = chargeBudgets(gov, op, trigger, costMicros);
  const { owedLabels } = op;
  change(gov, op, booked, {
    state: to,
    owedLabels: noLabels,
    reason: reasonAfter(op, trigger, by),
    control: by.control ?? op.control,
    costMicros,
    usage,
  });
  const owed = trigger === 'allow' ? owedLabels : (by.labels ?? noLabels);
  const labels = giveLabels(gov, inRun(op), owed, op.updatedAt);
  gov.journal.record(
    draftOf({
      at: op.updatedAt,
      eventType: 'OpStateChanged',
      lineage: op.owner.lineage,
      actor: by.actor,
      opId: op.opId,
      ...traceIdsIn(op.opId),
      reason: by.reason === '' ? null : by.reason,
      payload: canonicalJson({
        ...by.details,
        ...(booked === undefined ? {} : { booked }),
        cost_micros: op.costMicros,
        ...(booked === undefined || op.delegators.length === 0 ? {} : { delegators: op.delegators }),
        from,
        ...(labels.length === 0 ? {} : { labels }),
        to: op.state,
        trigger,
      }),
    }),
    op,
  );
  announce(gov.reactions.opMoved, { op, from, trigger, actor: by.actor, reason: by.reason, approvalId: by.approvalId });
}

/** Where a trigger leads, by the lifecycle table. */
function destination(gov: Operations, op: Pick<Op, 'owner' | 'state'>, trigger: OpTrigger): OpState {
  // Nobody here knows all that keeps it from running.
  if (trigger === 'allow' || trigger === 'resume') requireReadInFull(gov.directory, op.owner);
  return gov.ops.destination(op, trigger);
}

function change(
  gov: Operations,
  op: Op,
  booked: string | undefined,
  members: Pick<OpRecord, 'state' | 'reason' | 'control' | 'costMicros' | 'owedLabels' | 'usage'>,
): void {
  const at = gov.clock.now();
  const before = recordOf(op);
  const isOpen = !isOver(members.state);
  const record: OpRecord = {
    ...before,
    ...members,
    updatedAt: at,
    reservedMicros: isOpen ? before.reservedMicros : 0,
    // Of an operation that does not run, nobody says that it is stale. It is again when it runs on, if nothing was heard.
    stale: members.state === 'running' && (op.stale || (before.state === 'paused' && op.owner.silent)),
  };
  const fact = { type: 'ops_change', at, agent: record.agent, op: record } as const;
  gov.journal.apply(booked === undefined ? fact : { ...fact, booked });
  if (booked !== undefined) noteDelegated(gov, record);
}

/** What a delegate has spent counts for every delegation above it that still lasts. */
function noteDelegated({ directory, journal }: Operations, { agent, delegators, costMicros }: OpRecord): void {
  if (delegators.length === 0) return;
  for (const agentId of [agent.agentId, ...delegators]) {
    const delegate = directory.find({ ...agent, agentId });
    const delegation = delegate === undefined ? undefined : directory.delegations.of(delegate);
    if (delegation === undefined) continue;
    const settled = usedBy(delegation, { checks: 0, settledMicros: costMicros });
    journal.apply({ kind: 'delegation_used', delegation: settled });
  }
}

/**
 * What a move means to budgets: completion settles the cost, termination releases the reservation. Returns the day that
 * the cost is booked to, if there is one.
 */
function chargeBudgets(gov: Operations, op: Op, trigger: OpTrigger, costMicros: Micros): string | undefined {
  const { reservedMicros: reserved, owner } = op;
  if (trigger !== 'complete' || (reserved === 0 && costMicros === 0)) return undefined;
  const { ledger } = gov;
  const tiers = tiersOfOp(op);
  const delta = { reserved: -reserved, settled: { day: costMicros, month: costMicros } };
  noteApproached(gov, owner.lineage, ledger.approachedBy(tiers, delta));
  return costMicros > 0 ? ledger.bookedTo : undefined;
}

function reasonAfter(op: Op, trigger: OpTrigger, { reason }: MoveCause): string {
  if (trigger === 'terminate' && reason === '') return 'operation is terminated';
  return trigger === 'terminate' || trigger === 'allow' ? reason : op.reason;
}

/**
 * A first check decides what becomes of an operation, and returns it. The decision's entry records it. One fact says all of it,
 * also that the operation became known, unless it is `known`.
 */
export function moveByDecision(
  gov: Operations,
  owner: Agent,
  known: Op | undefined,
  record: OpRecord,
  trigger: 'allow' | 'terminate',
  by: Pick<MoveCause, 'actor' | 'reason'>,
  at: EpochMs,
): Op {
  const from = known?.state ?? 'pending';
  const { agent, opId } = record;
  const moved: OpRecord = { ...record, state: destination(gov, { owner, state: from }, trigger), updatedAt: at };
  const shows = known === undefined ? 'arrival and decision' : 'decision';
  gov.journal.apply({ type: 'ops_change', at, agent, op: moved, checked: true, shows });
  const op = known ?? gov.ops.get(owner, opId);
  announce(gov.reactions.opMoved, { op, from, trigger, actor: by.actor, reason: by.reason, approvalId: undefined });
  return op;
}

/**
 * Terminates the operations of an agent that leaves. They are shown until they are swept. Rows that are left of others
 * go with an agent that has none.
 */
export function endOpsOf(gov: Housekeeping, { agent, actor, because, keepsOps }: Leaving): void {
  for (const op of [...gov.ops.of(agent)]) {
    if (!isOver(op.state)) moveOp(gov, op, 'terminate', { actor, reason: because });
  }
  if (!keepsOps) removeRowsOf(gov, agent);
}

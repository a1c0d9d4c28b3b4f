import type { Operations, OpMoved } from './operations.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { Json, Actor } from '../audit/index.ts';
import { announce, traceIdsIn } from '../kernel/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { OpTrigger, Op } from './op.ts';
import { opsChange } from './ops-slice.ts';
import type { Receipt } from './receipt.ts';

/** Who moves an operation, and why. */
export interface MoveCause {
  readonly actor: Actor;
  readonly reason: string;
  readonly details?: { readonly [member: string]: Json };
  /** The control that causes the move, if any. */
  readonly control?: Receipt;
  /** The approval whose outcome the move is, if any. */
  readonly approvalId?: string;
}

/**
 * A transition without a decision: by an operator, by the agent's report, by expiry. It writes one `OpStateChanged` and
 * publishes one event. If nothing changes, it does neither.
 */
export function moveOp(gov: Operations, op: Op, trigger: OpTrigger, by: MoveCause): void {
  const moved = transition(gov, op, trigger, by);
  if (moved === undefined) return;
  gov.journal.onFailure(
    gov.ops.change(op, { reason: reasonAfter(op, trigger, by), control: by.control ?? op.control }),
  );
  const { from, booked } = moved;
  publish(gov, moved);
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
        from,
        to: op.state,
        trigger,
      }),
    }),
    op,
  );
  announce(gov.reactions.opMoved, moved);
}

function reasonAfter(op: Op, trigger: OpTrigger, { reason }: MoveCause): string {
  if (trigger === 'terminate' && reason === '') return 'operation is terminated';
  return trigger === 'terminate' || trigger === 'allow' ? reason : op.reason;
}

/** A transition that a decision causes. The decision's entry records it. */
export function moveByDecision(
  gov: Operations,
  op: Op,
  trigger: 'allow' | 'terminate',
  by: Pick<MoveCause, 'actor' | 'reason'>,
  now: EpochMs,
): void {
  const moved = transition(gov, op, trigger, by, now);
  if (moved === undefined) return;
  publish(gov, moved);
  announce(gov.reactions.opMoved, moved);
}

/** The one place where an operation moves. Undefined if the table leads to the state it is in. */
function transition(
  gov: Operations,
  op: Op,
  trigger: OpTrigger,
  { actor, reason, approvalId }: Pick<MoveCause, 'actor' | 'reason' | 'approvalId'>,
  now?: EpochMs,
): OpMoved | undefined {
  const { state: from } = op;
  // Nobody here knows all that keeps it from running.
  if (trigger === 'allow' || trigger === 'resume') gov.directory.outOfService.refuse(op.owner.record.id);
  const undo = gov.ops.move(op, trigger, now);
  if (undo === undefined) return undefined;
  const moved: OpMoved = { op, from, trigger, actor, reason, approvalId, booked: undefined };
  announce(gov.reactions.opMoving, moved);
  gov.journal.onFailure(undo);
  return moved;
}

function publish(gov: Operations, { op, booked }: OpMoved): void {
  gov.journal.publish(booked === undefined ? opsChange(op) : { ...opsChange(op), booked });
}

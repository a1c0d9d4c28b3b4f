import type { Actor } from '../audit/index.ts';
import { noteApproached, noteReleased } from '../budget/index.ts';
import { isOver } from './op.ts';
import { moveOp } from './move-op.ts';
import type { Operations, OpMoved } from './operations.ts';
import type { Agent } from '../tenancy/index.ts';

/** What a move means to budgets: completion settles the cost, termination releases the reservation. */
export function settleCost(gov: Operations, moved: OpMoved): void {
  const { op, trigger } = moved;
  const { reservedMicros: reserved, costMicros } = op;
  if (trigger === 'complete' && (reserved > 0 || costMicros > 0)) {
    const { undo, approached, day } = gov.ledger.settle(op.owner.record.id, reserved, costMicros);
    gov.journal.onFailure(undo);
    noteReleased(gov, op.owner.record.id, reserved - costMicros);
    moved.booked = costMicros > 0 ? day : undefined;
    noteApproached(gov, op.owner.lineage, approached);
    gov.journal.onlyWhile(() => gov.ledger.hasToldShares(op.owner.record.id));
  } else if (trigger === 'terminate' && reserved > 0) {
    gov.journal.onFailure(gov.ledger.release(op.owner.record.id, reserved));
    noteReleased(gov, op.owner.record.id, reserved);
  } else return;
  gov.journal.onFailure(gov.ops.change(op, { reservedMicros: 0 }));
}

/**
 * Terminates the operations of an agent that leaves. They are forgotten with it: if it returns and reuses the ids, they
 * are other operations.
 */
export function endOpsOf(gov: Operations, { agent, actor }: { readonly agent: Agent; readonly actor: Actor }): void {
  for (const op of [...gov.ops.of(agent)]) {
    if (!isOver(op.state)) moveOp(gov, op, 'terminate', { actor, reason: 'agent deregistered' });
    // Most have no row, unless another gateway is writing it at the moment.
    if (op.savedSeq > 0 || gov.journal.isShared) {
      gov.journal.write({ kind: 'op_removed', id: agent.record.id, opId: op.opId });
    }
  }
}

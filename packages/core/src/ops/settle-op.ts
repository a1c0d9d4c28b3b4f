import type { Operations, OpMoved } from './operations.ts';
import { noteApproached } from '../budget/note-approached.ts';

/** What a move means to budgets: the end of an operation settles its cost, its termination frees what was held back. */
export function settleCost(gov: Operations, moved: OpMoved): void {
  const { op, trigger } = moved;
  const { reservedMicros: reserved, costMicros } = op;
  if (trigger === 'complete' && (reserved > 0 || costMicros > 0)) {
    const { undo, approached, day } = gov.ledger.settle(op.owner.record.id, reserved, costMicros);
    gov.journal.onFailure(undo);
    moved.booked = costMicros > 0 ? day : undefined;
    noteApproached(gov, op.owner.lineage, approached);
  } else if (trigger === 'terminate' && reserved > 0) {
    gov.journal.onFailure(gov.ledger.release(op.owner.record.id, reserved));
  } else return;
  op.reservedMicros = 0;
  gov.journal.onFailure(() => {
    op.reservedMicros = reserved;
  });
}

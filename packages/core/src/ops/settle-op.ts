import type { Governance } from '../governance.ts';
import type { OpTrigger } from './lifecycle.ts';
import type { Op } from './op.ts';
import { noteApproached } from '../budget/note-approached.ts';

/**
 * What a move of an operation means to budgets: its end settles its cost, its termination frees what was held back.
 * Returns the day that the cost was booked to, where it was.
 */
export function closeBooks(gov: Governance, op: Op, trigger: OpTrigger): string | undefined {
  let booked: string | undefined;
  const { reservedMicros: reserved, costMicros } = op;
  if (trigger === 'complete' && (reserved > 0 || costMicros > 0)) {
    const { undo, approached, day } = gov.ledger.settle(op.owner.record.id, reserved, costMicros);
    gov.journal.onFailure(undo);
    booked = costMicros > 0 ? day : undefined;
    noteApproached(gov, op.owner.lineage, approached);
  } else if (trigger === 'terminate' && reserved > 0) {
    gov.journal.onFailure(gov.ledger.release(op.owner.record.id, reserved));
  } else return undefined;
  op.reservedMicros = 0;
  gov.journal.onFailure(() => {
    op.reservedMicros = reserved;
  });
  return booked;
}

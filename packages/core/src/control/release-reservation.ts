import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Controls } from './controls.ts';
import type { Op } from '../ops/op.ts';
import { usdOfMicros } from '../kernel/money.ts';
import { traceIdsIn } from '../kernel/op-id.ts';

/**
 * Frees what is held back for an operation that nobody is heard of any more. It is no transition: should the agent come
 * back and complete it, what it did cost is booked, or what was once held back where it does not say.
 */
export function releaseReservation(gov: Controls, op: Op, reason: string): void {
  const { reservedMicros, stale } = op;
  const at = gov.clock.now();
  const agent = op.owner.record.id;
  gov.journal.onFailure(gov.ledger.release(agent, reservedMicros));
  op.reservedMicros = 0;
  op.stale = true;
  gov.journal.onFailure(() => Object.assign(op, { reservedMicros, stale }));
  gov.ops.touch(op);
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetReservationReleased',
      lineage: op.owner.lineage,
      actor: system,
      opId: op.opId,
      ...traceIdsIn(op.opId),
      reason,
      payload: canonicalJson({ released_micros: reservedMicros, state: op.state }),
    }),
    op,
  );
  gov.journal.publish({
    type: 'audit_alert',
    at,
    agent,
    alert: 'reservation_released',
    details: { op_id: op.opId, released_usd: usdOfMicros(reservedMicros) },
  });
}

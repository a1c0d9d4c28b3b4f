import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { Controls } from './controls.ts';
import { eachSilentOp } from './liveness.ts';
import { usdOfMicros } from '../kernel/money.ts';
import { traceIdsIn } from '../kernel/op-id.ts';
import { SteppedRound } from '../kernel/stepped-round.ts';
import type { Op } from '../ops/op.ts';

/**
 * Looks for money that is held back for operations whose agents have vanished: no control stream, and no heartbeat or call
 * for the length of the lease. What is held back is free again; the operation stays as it is. After a restart the lease
 * starts anew, as nobody could be heard while the gateway was gone.
 */
export class ReservationReaper {
  readonly #round: SteppedRound;

  constructor(gov: Controls, leaseMs: number, onRelease: () => void = () => undefined) {
    const release = (op: Op) => {
      if (!isHeldBackFor(op)) return;
      releaseReservation(gov, op, `nothing was heard of the agent for ${leaseMs / 1000} s`);
      onRelease();
    };
    this.#round = new SteppedRound(() => eachSilentOp(gov, leaseMs, release));
  }

  /** Goes on with the round for up to `most` agents and operations; false where it has come to its end. */
  step(most: number): boolean {
    return this.#round.step(most);
  }
}

/** What waits for an approval is held back until that is decided or expires. */
function isHeldBackFor(op: Op): boolean {
  return op.reservedMicros > 0 && (op.state === 'running' || op.state === 'paused');
}

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

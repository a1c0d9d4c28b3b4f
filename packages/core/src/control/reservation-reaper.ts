import { eachSilentOp } from './silent-agents.ts';
import type { Controls } from './controls.ts';
import { SteppedRound } from '../kernel/stepped-round.ts';
import type { Op } from '../ops/op.ts';
import { releaseReservation } from './release-reservation.ts';

/**
 * Looks for money that is held back for operations whose agents have vanished: no control stream, and no heartbeat or call
 * for the length of the lease. What is held back is free again; the operation stays as it is. After a restart the lease
 * starts anew, as nobody could be heard while the gateway was gone.
 */
export class LeaseWatch {
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

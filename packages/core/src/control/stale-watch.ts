import type { Controls } from './controls.ts';
import { SteppedRound } from '../kernel/stepped-round.ts';
import type { Op } from '../ops/op.ts';
import { eachSilentOp } from './silent-agents.ts';

/**
 * Looks for agents that have fallen silent: no control stream, and no heartbeat or call for too long. What they run is
 * marked as stale, and told once. It is no transition, as nobody knows what has become of it.
 */
export class StaleWatch {
  readonly #gov: Controls;
  readonly #round: SteppedRound;

  constructor(gov: Controls, silentMs: number) {
    this.#gov = gov;
    const mark = (op: Op) => {
      if (op.state === 'running' && !op.stale) this.#mark(op);
    };
    this.#round = new SteppedRound(() =>
      eachSilentOp(gov, silentMs, mark, (agent) => {
        agent.silent = true;
      }),
    );
  }

  /** Goes on with the round for up to `most` agents and operations; false where it has come to its end. */
  step(most: number): boolean {
    return this.#round.step(most);
  }

  #mark(op: Op): void {
    const { clock, journal } = this.#gov;
    op.stale = true;
    journal.onFailure(() => {
      op.stale = false;
    });
    const { id } = op.owner.record;
    journal.publish({
      type: 'audit_alert',
      at: clock.now(),
      agent: id,
      alert: 'op_stale',
      details: { op_id: op.opId },
    });
  }
}

import type { Governance } from '../governance.ts';
import type { Op } from '../ops/op.ts';
import { noteAlive } from './note-alive.ts';

/**
 * Looks for agents that have fallen silent: no control stream, and no heartbeat or call for too long. What they run is
 * marked as stale, and told once. It is no transition, as nobody knows what has become of it.
 */
export class StaleWatch {
  readonly #gov: Governance;
  readonly #silentMs: number;
  #round: Generator<void> | undefined;

  constructor(gov: Governance, silentMs: number) {
    this.#gov = gov;
    this.#silentMs = silentMs;
  }

  /** Goes on with the round for up to `most` agents and operations; false where it has come to its end. */
  step(most: number): boolean {
    this.#round ??= this.#look();
    for (let looked = 0; looked < most; looked++) {
      if (this.#round.next().done !== true) continue;
      this.#round = undefined;
      return false;
    }
    return true;
  }

  *#look(): Generator<void> {
    const { clock, control, directory } = this.#gov;
    for (const agent of directory.registered()) {
      yield;
      if (agent.ops.size === 0) continue;
      const now = clock.elapsed();
      if (control.hasStream(agent.key)) noteAlive(this.#gov, agent, now);
      agent.aliveAt ??= now;
      if (now - agent.aliveAt < this.#silentMs) continue;
      agent.silent = true;
      for (const op of agent.ops.values()) {
        yield;
        // It may have been heard of since the last step.
        if (!agent.silent) break;
        if (op.state === 'running' && !op.stale) this.#mark(op);
      }
    }
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

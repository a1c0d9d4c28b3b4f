import type { Controls } from './controls.ts';
import { SteppedRound } from '../kernel/stepped-round.ts';
import type { Op } from '../ops/op.ts';
import type { Agent } from '../tenancy/agent.ts';
import { touchAgent } from '../tenancy/find-agent.ts';

/** An agent is heard of again: what it runs is not stale any more. */
export function wakeOps(gov: Controls, agent: Agent): void {
  const back: Op[] = [];
  for (const op of gov.ops.of(agent).values()) if (op.stale) back.push(op);
  agent.silent = false;
  for (const op of back) {
    op.stale = false;
    if (op.state !== 'running') continue;
    const { id } = agent.record;
    const details = { op_id: op.opId };
    gov.journal.publish({ type: 'audit_alert', at: gov.clock.now(), agent: id, alert: 'op_back', details });
  }
  gov.journal.onFailure(() => {
    agent.silent = true;
    for (const op of back) op.stale = true;
  });
}

/**
 * Goes through the agents of whom nothing was heard for so long, neither a stream nor a heartbeat or call, and through their
 * operations. Each agent and each operation is a step, between which an agent may be heard of again: it is then left alone.
 */
export function* eachSilentOp(
  gov: Controls,
  silentMs: number,
  onOp: (op: Op) => void,
  onAgent: (agent: Agent) => void = () => undefined,
): Generator<void> {
  const { clock, control, directory, ops } = gov;
  for (const agent of directory.registered()) {
    yield;
    if (ops.of(agent).size === 0) continue;
    const now = clock.elapsed();
    if (control.hasStream(agent.key)) touchAgent(gov, agent, now);
    agent.aliveAt ??= now;
    const heardAt = agent.aliveAt;
    if (now - heardAt < silentMs) continue;
    onAgent(agent);
    for (const op of ops.of(agent).values()) {
      yield;
      if (agent.aliveAt !== heardAt) break;
      onOp(op);
    }
  }
}

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

import type { AlertEvent } from '../audit/index.ts';
import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import type { Listened } from '../kernel/index.ts';
import { usdOfMicros, traceIdsIn, SteppedRound } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { touchAgent } from '../tenancy/index.ts';

/** An agent is alive again: its operations are no longer stale. */
export function wakeOps(gov: Controls, agent: Agent): void {
  agent.silent = false;
  for (const op of gov.ops.of(agent)) if (op.stale) gov.journal.apply(alertOf(gov, op, 'op_back'));
}

function alertOf({ clock }: Controls, { opId, owner }: Op, alert: 'op_stale' | 'op_back'): AlertEvent {
  return { type: 'audit_alert', at: clock.now(), agent: owner.record.id, alert, details: { op_id: opId } };
}

/**
 * Visits the agents that have been silent for this long, and their operations. A silent agent has no stream and sent no
 * heartbeat or call, while this gateway listened. Each agent and each operation is a step. If an agent is heard of
 * between steps, or the gateway did not listen, the rest of its operations is left alone.
 */
export function* eachSilentOp(
  gov: Controls,
  silentMs: number,
  listened: Listened,
  onOp: (op: Op) => void,
): Generator<void> {
  const { clock, control, directory, ops } = gov;
  const isSilent = (since: number) => clock.elapsed() - Math.max(since, listened.since) >= silentMs;
  for (const agent of directory.registered()) {
    yield;
    const now = clock.elapsed();
    // Nearly everybody was heard lately. That is looked at first, because it touches nothing else.
    if (now - agent.aliveAt < silentMs) continue;
    if (ops.of(agent).size === 0) continue;
    if (control.hasStream(agent.key)) touchAgent(gov, agent, now);
    const heardAt = agent.aliveAt;
    if (!isSilent(heardAt)) continue;
    for (const op of ops.of(agent)) {
      yield;
      if (agent.aliveAt !== heardAt || !isSilent(heardAt)) break;
      onOp(op);
    }
  }
}

/**
 * Looks for silent agents: no control stream, and no heartbeat or call for too long. It marks their running operations
 * as stale, by one alert for each. This is no transition: nobody knows what became of the operation.
 */
export class StaleWatch {
  readonly #round: SteppedRound;

  constructor(gov: Controls, silentMs: number, listened: Listened) {
    const mark = (op: Op) => {
      if (op.state === 'running' && !op.stale) gov.journal.apply(alertOf(gov, op, 'op_stale'));
    };
    this.#round = new SteppedRound(() => eachSilentOp(gov, silentMs, listened, mark));
  }

  /** Continues the round for up to `most` agents and operations. Returns false at the end of the round. */
  step(most: number): boolean {
    return this.#round.step(most);
  }
}

/**
 * Releases the reservations of operations whose agents have vanished: no control stream, and no heartbeat or call for
 * the length of the lease. The operation stays as it is. After a restart, or when the gateway was stopped, the lease starts
 * anew, because nobody could be heard meanwhile.
 */
export class ReservationReaper {
  readonly #round: SteppedRound;

  constructor(gov: Controls, leaseMs: number, listened: Listened, onRelease: () => void = () => undefined) {
    const release = (op: Op) => {
      if (!isHeldBackFor(op)) return;
      releaseReservation(gov, op, `nothing was heard of the agent for ${leaseMs / 1000} s`);
      onRelease();
    };
    this.#round = new SteppedRound(() => eachSilentOp(gov, leaseMs, listened, release));
  }

  /** Continues the round for up to `most` agents and operations. Returns false at the end of the round. */
  step(most: number): boolean {
    return this.#round.step(most);
  }
}

/** A pending operation keeps its reservation until its approval is decided or expires. */
function isHeldBackFor(op: Op): boolean {
  return op.reservedMicros > 0 && (op.state === 'running' || op.state === 'paused');
}

/**
 * Releases the reservation of an operation whose agent is silent. This is no transition. If the agent comes back and
 * completes the operation, its actual cost is booked, or the former reservation if it reports none.
 */
export function releaseReservation(gov: Controls, op: Op, reason: string): void {
  const { reservedMicros } = op;
  const at = gov.clock.now();
  const agent = op.owner.record.id;
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
  gov.journal.apply({
    type: 'audit_alert',
    at,
    agent,
    alert: 'reservation_released',
    details: { op_id: op.opId, released_usd: usdOfMicros(reservedMicros) },
  });
}

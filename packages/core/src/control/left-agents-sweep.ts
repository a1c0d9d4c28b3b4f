import { SteppedRound } from '../kernel/index.ts';
import type { Housekeeping } from '../ops/index.ts';
import { removeRowsOf } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { isRegistered } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';

/**
 * Forgets agents that have left and that nothing holds any more: no operation that is still shown, no stop that was not
 * confirmed, no suspension. It looks at each that has left, however many are held, so it goes in steps.
 */
export class LeftAgentsSweep {
  readonly #round: SteppedRound;

  constructor(gov: Controls & Housekeeping) {
    this.#round = new SteppedRound(() => eachLeft(gov));
  }

  /** Continues the round for up to `most` agents, in a turn. Returns false at the end of the round. */
  step(most: number): boolean {
    return this.#round.step(most);
  }
}

function* eachLeft(gov: Controls & Housekeeping): Generator<void> {
  for (const agent of gov.directory.left()) {
    forgetUnlessHeld(gov, agent);
    yield;
  }
}

function forgetUnlessHeld(gov: Controls & Housekeeping, { key, record }: Agent): void {
  const { control, directory, journal, ops } = gov;
  const { id } = record;
  // A delegate is forgotten with its delegation.
  if (record.suspension !== null || directory.delegations.find(key) !== undefined) return;
  // Looked up by its id, which notes the read: another gateway may have registered it meanwhile.
  const agent = directory.find(id);
  if (agent === undefined || isRegistered(agent) || ops.of(agent).size > 0) return;
  if (directory.outOfService.has(id) || control.hasUnanswered(key)) return;
  // Another gateway may have written one of an operation that is forgotten here.
  removeRowsOf(gov, agent);
  journal.apply({ kind: 'agent_removed', id, isKept: false });
}

import { everything } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Interned } from './encoding/codec.ts';
import { nothingInterned } from './encoding/codec.ts';
import { readFacts, writeFacts } from './encoding/commit.ts';
import type { AnyStep, ReadFacts, WrittenFacts } from './facts-of-commit.ts';
import { readNamedFacts } from './named-facts.ts';

/** The facts of a commit as text, for other gateways. */
export function commitText(facts: WrittenFacts): string {
  return writeFacts(facts, true);
}

/** The facts of a commit as text, for a start. It needs none that a later one of the same commit replaces. */
export function factsText({ steps, touched }: WrittenFacts): string {
  return writeFacts({ steps: steps.filter((step, at) => !isReplaced(steps, at, step)), touched }, false);
}

/** How far the decision is from the event that a new operation is known. */
const nearby = 4;

/** A new operation is mostly decided at once. Then the state after the decision says all. */
export function isReplaced(steps: WrittenFacts['steps'], at: number, arrival: AnyStep): boolean {
  if (!('event' in arrival) || arrival.event.type !== 'ops_change') return false;
  const { op, agent } = arrival.event;
  if (op.state !== 'pending' || op.digest !== '') return false;
  for (let next = at + 1; next <= at + nearby; next++) {
    const step = steps[next];
    if (step === undefined || !('event' in step) || step.event.type !== 'ops_change') continue;
    const { event } = step;
    return event.op.opId === op.opId && (event.agent === agent || agentKey(event.agent) === agentKey(agent));
  }
  return false;
}

/**
 * Reads the facts of a commit, written by this release or by another one. It never throws: the commit is made, whether or not
 * it can be read here. What cannot be read is told.
 */
export function parseCommit(text: string, interned: Interned = nothingInterned): ReadFacts {
  try {
    const written: unknown = JSON.parse(text);
    return Array.isArray(written) ? readFacts(written, interned) : readNamedFacts(written);
  } catch {
    // Nothing of it is quoted: a commit may hold secrets.
    return { steps: [], touched: everything, unread: [{ touched: null, why: 'its text is not that of a commit' }] };
  }
}

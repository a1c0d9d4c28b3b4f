import { expect } from 'vitest';
import type { Fact } from '../facts.ts';
import { applyFact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import type { Applying, Undo } from '../journal/meaning.ts';

/** It happens here, and never becomes durable. */
const lost: Applying = { isHere: true, seq: Number.POSITIVE_INFINITY, onDurable: () => undefined };

/** Applies facts one after the other, takes them back, the newest first, and requires each state to be as it was. */
export function expectInverses(gov: Governance, facts: readonly Fact[], pictureOf: (gov: Governance) => unknown): void {
  const steps: { readonly before: unknown; readonly fact: Fact; readonly undo: Undo }[] = [];
  for (const fact of facts) {
    const before = pictureOf(gov);
    steps.push({ before, fact, undo: applyFact(gov, fact, lost) });
  }
  for (const { before, fact, undo } of steps.toReversed()) {
    undo();
    expect(pictureOf(gov), `as it was before ${JSON.stringify(fact)}`).toEqual(before);
  }
}

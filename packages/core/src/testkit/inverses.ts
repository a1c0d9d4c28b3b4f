import { expect } from 'vitest';
import type { Applying, Meanings, Named } from '../journal/meaning.ts';
import { applyWith } from '../journal/meaning.ts';

/** The fact happens here, and is not durable yet. */
export const here: Applying = { isHere: true, seq: Number.POSITIVE_INFINITY, onDurable: () => undefined };

/** Another gateway has done it. */
export const elsewhere: Applying = { isHere: false, seq: 0, onDurable: (effect) => effect() };

/** Applies facts and takes them back, the newest first. After each, all that is shown is as it was before the fact. */
export function expectInverses<State, Fact extends Named>(
  meanings: Meanings<State, Fact>,
  state: State,
  shown: (state: State) => unknown,
  facts: readonly Fact[],
): void {
  const apply = applyWith(meanings, () => state);
  const steps = facts.map((fact) => ({ before: shown(state), undo: apply(fact, here) }));
  for (const { before, undo } of steps.reverse()) {
    undo();
    expect(shown(state)).toEqual(before);
  }
}

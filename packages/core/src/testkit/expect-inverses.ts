import { expect } from 'vitest';
import type { Fact } from '../facts.ts';
import { applyFact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import type { Applying } from '../journal/meaning.ts';

const here: Applying = { isHere: true, seq: Number.POSITIVE_INFINITY, onDurable: () => undefined };

/** Applies facts, and takes them back, newest first. Each time the picture must be what it was before the fact. */
export function expectInverses(gov: Governance, facts: readonly Fact[], picture: () => unknown): void {
  const undos = facts.map((fact) => {
    const before = picture();
    const undo = applyFact(gov, fact, here);
    return () => {
      undo();
      expect(picture(), `before ${JSON.stringify(fact)}`).toEqual(before);
    };
  });
  for (const undo of undos.reverse()) undo();
}

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Op } from './op.ts';
import { inOrderOf } from './op-order.ts';

const someTime = fc.oneof(
  fc.nat({ max: 5 }),
  fc.integer(),
  fc.constantFrom(1_794_840_226_760, 0.5, -0, 2 ** 52, -(2 ** 52)),
);

test('operations come in the order of their times, and those of one time in theirs', () => {
  fc.assert(
    fc.property(fc.array(someTime), (times) => {
      const ops = times.map((updatedAt, at) => ({ updatedAt, opId: String(at) }) as Op);
      const sorted = ops.toSorted((a, b) => a.updatedAt - b.updatedAt);
      expect(inOrderOf(ops, 'updatedAt')).toEqual(sorted);
    }),
  );
});

test('a list that is in order is not copied', () => {
  const ops = [1, 2, 2, 3].map((updatedAt) => ({ updatedAt }) as Op);
  expect(inOrderOf(ops, 'updatedAt')).toBe(ops);
});

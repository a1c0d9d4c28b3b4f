import { expect, test } from 'vitest';
import { doors } from './names.ts';
import { actionTypeNames, decisionNames, doorNames, outcomeNames } from './wire-names.ts';

test.each(Object.entries({ actionTypeNames, decisionNames, doorNames, outcomeNames }))(
  '%s: each name has a number of its own, and what is unspecified or unknown has no name',
  (_what, { nameOf, wireOf }) => {
    const pairs = Object.entries<number>(wireOf);
    expect(new Set(pairs.map(([, wire]) => wire)).size).toBe(pairs.length);
    expect(pairs.map(([, wire]) => nameOf(wire))).toEqual(pairs.map(([name]) => name));
    expect([0, -1, 99, Number.NaN].map(nameOf)).toEqual([undefined, undefined, undefined, undefined]);
  },
);

test('the doors on the wire are the doors', () => {
  expect(Object.keys(doorNames.wireOf)).toEqual(doors);
});

import { describe, expect, test } from 'vitest';
import { alsoOfBudget, askingReason, jointly, mostRulesRemembered, strictest, waitOf } from './asking-rules.ts';
import type { PolicyRule } from './document.ts';
import type { CompiledRule } from './rule-index.ts';

/** Rules that ask on these terms. Nothing else of a rule counts here. */
function asking(...terms: readonly PolicyRule['approvals'][]): CompiledRule[] {
  return terms.map(
    (approvals, at) =>
      ({ id: `p/r${at}`, reason: `because of r${at}`, rule: { approvals } }) as unknown as CompiledRule,
  );
}

describe('of all rules that ask', () => {
  test('the highest count, the shortest time and the first that forbids a grant decide, in whatever order', () => {
    const rules = asking(
      { count: 2, ttlSecs: 60 },
      { count: 3, ttlSecs: 30 },
      { ttlSecs: 90, grants: false, self: false },
    );
    const terms = { count: 3, ttlSecs: 30, leavesTime: false, grants: false, self: false };
    expect(strictest(rules)).toEqual({ rules: ['p/r0', 'p/r1', 'p/r2'], ...terms });
    expect(strictest(rules.toReversed())).toMatchObject(terms);
  });

  test('one that says nothing asks one person, leaves the time to the gateway and allows grants', () => {
    const usual = { rules: ['p/r0'], count: 1, ttlSecs: undefined, leavesTime: true, grants: true, self: true };
    expect(strictest(asking(undefined))).toEqual(usual);
    expect(strictest(asking({}))).toEqual(usual);
    expect(strictest(asking({ ttlSecs: 60 }, undefined))).toMatchObject({ ttlSecs: 60, leavesTime: true });
    expect(strictest(asking({ grants: true }))).toMatchObject({ grants: true });
  });

  test('what several must meet together is what all of their rules ask for', () => {
    const terms = [
      { count: 2, ttlSecs: 60, by: { roles: ['owner'] as const } },
      { ttlSecs: 30, notUser: true as const, grants: false, self: false },
      { by: { emails: ['*@example.com'] } },
    ];
    const { rules: _, ...together } = strictest(asking(...terms));
    expect(jointly(terms.map((each) => strictest(asking(each))))).toMatchObject(together);
  });

  test('only some are remembered, and where there are more nothing is granted', () => {
    const many = (count: number) => asking(...Array.from({ length: count }, () => undefined));
    expect(strictest(many(mostRulesRemembered))).toMatchObject({ grants: true });
    const more = strictest(many(mostRulesRemembered + 1));
    expect([more.rules.length, more.grants]).toEqual([mostRulesRemembered, false]);
  });
});

test('a budget that asks besides allows no grant, and counts the time of the gateway too', () => {
  const one = strictest(asking({ count: 2, ttlSecs: 60 }));
  expect(alsoOfBudget(one)).toEqual({ ...one, leavesTime: true, grants: false });
  expect(alsoOfBudget(undefined)).toBeUndefined();
});

test.each([
  [undefined, true, 50_000],
  [60, false, 60_000],
  [60, true, 50_000],
  [40, true, 40_000],
])(
  'where rules name %j seconds and one leaves it to the gateway is %j, people have %d ms',
  (ttlSecs, leavesTime, ms) => {
    expect(waitOf({ ttlSecs, leavesTime }, 50_000)).toBe(ms);
  },
);

test('where no rule asks, people have the time of the gateway', () => {
  expect(waitOf(undefined, 50_000)).toBe(50_000);
});

test('the reason names the first rules that ask, and counts the others', () => {
  const rules = asking(...Array.from({ length: 8 }, () => undefined));
  expect(askingReason([])).toBe('');
  expect(askingReason(rules.slice(0, 1))).toBe('because of r0');
  expect(askingReason(rules.slice(0, 3))).toBe('because of r0, and by p/r1, p/r2');
  expect(askingReason(rules.slice(0, 6))).toBe('because of r0, and by p/r1, p/r2, p/r3, p/r4, p/r5');
  expect(askingReason(rules)).toBe('because of r0, and by p/r1, p/r2, p/r3, p/r4, p/r5 (2 more)');
});

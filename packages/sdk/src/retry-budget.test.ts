import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RetryBudget } from './retry-budget.ts';

test('however calls and failures mix, retries stay within the burst and the share', () => {
  const events = fc.array(fc.boolean(), { maxLength: 2000 });
  const burst = fc.integer({ min: 0, max: 20 });
  const perMille = fc.integer({ min: 0, max: 1000 });
  fc.assert(
    fc.property(events, burst, perMille, (answeredOrFailed, most, share) => {
      const budget = new RetryBudget(most, share / 1000);
      let retries = 0;
      let answers = 0;
      for (const answered of answeredOrFailed) {
        if (answered) {
          answers++;
          budget.answered();
        } else if (budget.take()) retries++;
        expect(retries * 1000).toBeLessThanOrEqual(most * 1000 + answers * share);
      }
    }),
  );
});

test('ten answers earn one retry, no sooner', () => {
  const budget = new RetryBudget(1, 0.1);
  expect(budget.take()).toBe(true);
  for (let i = 0; i < 9; i++) budget.answered();
  expect(budget.take()).toBe(false);
  budget.answered();
  expect(budget.take()).toBe(true);
});

test('a long good time earns no more than the burst', () => {
  const budget = new RetryBudget(3, 0.1);
  for (let i = 0; i < 1000; i++) budget.answered();
  expect([budget.take(), budget.take(), budget.take(), budget.take()]).toEqual([true, true, true, false]);
});

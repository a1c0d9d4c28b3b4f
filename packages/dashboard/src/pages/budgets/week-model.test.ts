import { describe, expect, test } from 'vitest';
import type { Budget } from './budget-model.ts';
import { agentsToAsk, monthStart, spentSince, weekStart } from './week-model.ts';

const month = (agent_id: string, spent_usd: string) =>
  ({ agent_id, spent_usd, resets_at: '2026-12-01T00:00:00.000Z' }) as Budget;
const window = (starts_at: string, spent_usd: string) => ({
  starts_at,
  ends_at: starts_at,
  spent_usd,
  limit_usd: null,
  closed: true,
});
const names = (budgets: readonly Budget[]) => budgets.map(({ agent_id }) => agent_id);

test('a week is today and the six days before, also where a clock was changed', () => {
  const since = weekStart('2026-10-28T23:00:00.000Z');
  // In Berlin the 25th had 25 hours: the 22nd began at 22:00 UTC, the 21st too.
  const windows = [window('2026-10-20T22:00:00Z', '100.00'), window('2026-10-21T22:00:00Z', '1.00')];
  expect(spentSince([...windows, window('2026-10-27T23:00:00Z', '0.25')], since)).toBe(1_250_000n);
});

test.each([
  ['2026-12-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ['2026-11-30T23:00:00.000Z', '2026-10-31T23:00:00.000Z'],
  ['2026-03-01T08:00:00.000Z', '2026-02-01T08:00:00.000Z'],
  ['2027-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
])('a month that ends %s began %s', (ends, began) => expect(new Date(monthStart(ends)).toISOString()).toBe(began));

describe('whose days are asked for', () => {
  const months = [month('idle', '0.00'), month('cheap', '0.10'), month('dear', '9.00')];

  test('those who spent something this month, the dearest first', () => {
    const { asked, left } = agentsToAsk(months, Date.parse('2026-11-10T00:00:00Z'), 10);
    expect([names(asked), left]).toEqual([['dear', 'cheap'], []]);
  });

  test('all of them while the week began in another month', () => {
    const { asked } = agentsToAsk(months, Date.parse('2026-10-29T00:00:00Z'), 10);
    expect(names(asked)).toEqual(['dear', 'cheap', 'idle']);
  });

  test('not more than some, and the others are told', () => {
    const { asked, left } = agentsToAsk(months, Date.parse('2026-11-10T00:00:00Z'), 1);
    expect([names(asked), names(left)]).toEqual([['dear'], ['cheap']]);
  });

  test('nobody, where there is nobody', () => expect(agentsToAsk([], 0, 5)).toEqual({ asked: [], left: [] }));
});

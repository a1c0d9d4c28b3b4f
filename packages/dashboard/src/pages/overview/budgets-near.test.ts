import { expect, test } from 'vitest';
import type { Budget } from './budgets-near.ts';
import { nearCap } from './budgets-near.ts';

const budget = (limit: string | null, spent: string, reserved = '0.00'): Budget => ({
  tier: 'org',
  org_id: 'acme',
  team_id: null,
  agent_id: null,
  period: 'day',
  limit_usd: limit,
  spent_usd: spent,
  reserved_usd: reserved,
  resets_at: '2026-01-02T00:00:00.000Z',
  reached_at: null,
});

test('finds the budgets near their cap, what is held back included, the fullest first', () => {
  const found = nearCap(
    [budget('10.00', '7.00', '1.00'), budget('1.00', '1.20'), budget('10.00', '7.99'), budget(null, '900.00')],
    80,
  );
  expect(found.map(({ percent }) => percent)).toEqual([120, 80]);
});

test('counts in millionths, so that nothing is rounded up to a cap', () => {
  expect(nearCap([budget('100000.00', '79999.999999')], 80)).toEqual([]);
});

test('a cap of nothing is full', () => {
  expect(nearCap([budget('0.00', '0.00')], 80).map(({ percent }) => percent)).toEqual([100]);
});

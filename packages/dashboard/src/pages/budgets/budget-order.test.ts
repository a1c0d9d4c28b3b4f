import { expect, test } from 'vitest';
import type { Budget } from './budget-model.ts';
import { parseBudgetKey } from './budget-model.ts';
import { nextOrder, orderedAgents } from './budget-order.ts';

function row(key: string, spent_usd: string, limit_usd: string | null = null): Budget {
  const owner = parseBudgetKey(key);
  if (owner === undefined) throw new Error(key);
  const resets_at = '2026-03-02T00:00:00.000Z';
  return { ...owner, period: 'day', limit_usd, spent_usd, reserved_usd: '0.00', resets_at, reached_at: null };
}

const rows = [
  row('*', '99.00'),
  row('acme', '99.00'),
  row('acme/core/cheap', '0.50', '1.00'),
  row('acme/core/dear', '10.00', '100.00'),
  row('acme/web/even', '9.000001'),
  row('globex/core/other', '0.50'),
];
const keys = (...given: Parameters<typeof orderedAgents>) => orderedAgents(...given).map(({ key }) => key);

test('agents come by what they spent, the dearest first, and equal ones by name', () => {
  const dearest = ['acme/core/dear', 'acme/web/even', 'acme/core/cheap', 'globex/core/other'];
  expect(keys(rows, '-spent', {})).toEqual(dearest);
  expect(keys(rows, 'spent', {})).toEqual(['acme/core/cheap', 'globex/core/other', 'acme/web/even', 'acme/core/dear']);
});

test('what has no cap comes last in both directions', () => {
  expect(keys(rows, '-used', {}).slice(0, 2)).toEqual(['acme/core/cheap', 'acme/core/dear']);
  expect(keys(rows, 'cap', {}).slice(0, 2)).toEqual(['acme/core/cheap', 'acme/core/dear']);
});

test('the filters hold', () => {
  expect(keys(rows, '-spent', { org_id: 'globex' })).toEqual(['globex/core/other']);
  expect(keys(rows, '-spent', { team_id: 'core', q: 'CHEAP' })).toEqual(['acme/core/cheap']);
});

test('a header sorts down first, then up, then not', () => {
  expect(nextOrder(undefined, 'spent')).toBe('-spent');
  expect(nextOrder('-spent', 'spent')).toBe('spent');
  expect(nextOrder('spent', 'spent')).toBeUndefined();
  expect(nextOrder('-cap', 'spent')).toBe('-spent');
});

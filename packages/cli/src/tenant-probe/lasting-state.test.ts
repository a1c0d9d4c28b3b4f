import { expect, test } from 'vitest';
import { lastingState } from './lasting-state.ts';

const budget = { tier: 'team', team_id: 'billing', period: 'day', spent_usd: '0.00' };

test.each([
  [
    'a budget after midnight',
    { items: [{ ...budget, resets_at: '2026-11-17T00:00:00.000Z' }] },
    { items: [{ ...budget, resets_at: '2026-11-18T00:00:00.000Z' }] },
  ],
  ['the own key after a use', { id: 'me', last_used_at: null }, { id: 'me', last_used_at: '2026-11-17T00:00:00.000Z' }],
  [
    'a list that an ended operation left',
    {
      total: 2,
      items: [
        { op_id: 'a', state: 'running' },
        { op_id: 'b', state: 'terminated' },
      ],
    },
    { total: 1, items: [{ op_id: 'a', state: 'running' }] },
  ],
  [
    'a receipt that nobody answered',
    { requested_at: 'then', status: 'delivered', detail: '' },
    { requested_at: 'then', status: 'unconfirmed', detail: 'no answer' },
  ],
  ['an operation that became stale', { op_id: 'a', stale: false }, { op_id: 'a', stale: true }],
])('the same: %s', (_what, before, after) => {
  expect(lastingState(after, 'me')).toBe(lastingState(before, 'me'));
});

test.each([
  [
    'a budget that somebody spent',
    { ...budget, resets_at: '2026-11-17T00:00:00.000Z' },
    { ...budget, resets_at: '2026-11-17T00:00:00.000Z', spent_usd: '0.01' },
  ],
  ['another key that was used', { id: 'key', last_used_at: null }, { id: 'key', last_used_at: 'now' }],
  ['an operation that was paused', { op_id: 'a', state: 'running' }, { op_id: 'a', state: 'paused' }],
  [
    'a receipt that was acknowledged',
    { requested_at: 'then', status: 'requested' },
    { requested_at: 'then', status: 'acked' },
  ],
])('a change: %s', (_what, before, after) => {
  expect(lastingState(after, 'me')).not.toBe(lastingState(before, 'me'));
});

import { expect, test } from 'vitest';
import { edgeWords, limitWords } from './delegation-words.ts';

const by = { org_id: 'acme', team_id: 'core', agent_id: 'boss' };
const bare = {
  by,
  expires_at: '2026-11-17T12:00:00.000Z',
  actions: [],
  tools: [],
  max_cost_usd: null,
  spent_usd: '0.00',
  max_checks: null,
  checks: 3,
};

test('a delegation without limits of its own says so', () => {
  expect([limitWords(bare), edgeWords(bare)]).toEqual(['whatever its delegator may do', 'acts for']);
});

test('limits are told with what is used of them', () => {
  const bounded = {
    ...bare,
    max_checks: 10,
    max_cost_usd: '2.00',
    spent_usd: '0.50',
    tools: ['read_*'],
    actions: ['tool_call'],
  };
  expect(limitWords(bounded)).toBe('3 of 10 checks · $0.50 of $2.00 · tool_call · tools: read_*');
  expect(edgeWords(bounded)).toBe('3/10 · $0.50/$2.00');
});

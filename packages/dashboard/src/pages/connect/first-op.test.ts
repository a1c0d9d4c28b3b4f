import { expect, test } from 'vitest';
import { anOp, at } from '../ops/testkit.ts';
import { firstOf } from './first-op.ts';

const agent = { org_id: 'acme', team_id: '', agent_id: 'bot' };
const none = new Set<string>();

test('the first check of an agent is the oldest operation of exactly that agent', () => {
  const later = anOp({ agent, op_id: 't:2', registered_at: at(2) });
  const first = anOp({ agent, op_id: 't:1', registered_at: at(1) });
  const others = [anOp({ op_id: 't:0' }), anOp({ agent: { ...agent, team_id: 'core' } })];
  expect(firstOf([...others, later, first], agent, none)).toBe(first);
  expect(firstOf(others, agent, none)).toBeUndefined();
});

test('what was known before, or waits for its check, is none', () => {
  const known = anOp({ agent, op_id: 't:1' });
  const unchecked = anOp({ agent, op_id: 't:2', action_type: null });
  expect(firstOf([known, unchecked], agent, new Set(['t:1']))).toBeUndefined();
});

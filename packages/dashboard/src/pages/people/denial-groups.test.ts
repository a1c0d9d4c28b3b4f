import { expect, test } from 'vitest';
import { denialGroups } from './denial-groups.ts';

const denied = (seq: number, tool: string, reason: string) => ({
  seq,
  payload: { action: { type: 'tool_call', tool } },
  policy_rule: 'p/r',
  reason,
});

test('the same denied for the same reason is told once, by its newest', () => {
  const entries = [denied(9, 'pay', 'a'), denied(7, 'read', 'a'), denied(5, 'pay', 'a'), denied(3, 'pay', 'b')];
  expect(denialGroups(entries).map(({ entry: { seq }, times }) => [seq, times])).toEqual([
    [9, 2],
    [7, 1],
    [3, 1],
  ]);
});

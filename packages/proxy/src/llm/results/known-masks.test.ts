import { expect, test } from 'vitest';
import { KnownMasks } from './known-masks.ts';

test('what was said last counts, for each agent and model', () => {
  const masks = new KnownMasks();
  masks.note('a', 'm', true);
  expect([masks.has('a', 'm'), masks.has('a', 'other'), masks.has('b', 'm')]).toEqual([true, false, false]);
  masks.note('a', 'm', false);
  expect(masks.has('a', 'm')).toBe(false);
});

test('an agent does not wash a mask off by naming many models', () => {
  const masks = new KnownMasks();
  for (let nth = 0; nth < 1000; nth++) masks.note('a', `m${nth}`, true);
  expect(masks.has('a', 'm0')).toBe(true);
});

test('the agent that has not called for the longest time is forgotten', () => {
  const masks = new KnownMasks();
  for (let nth = 0; nth < 10_000; nth++) masks.note(`agent-${nth}`, 'm', true);
  masks.note('agent-0', 'm', true);
  masks.note('one-more', 'm', true);
  expect([masks.has('agent-0', 'm'), masks.has('agent-1', 'm'), masks.has('one-more', 'm')]).toEqual([
    true,
    false,
    true,
  ]);
});

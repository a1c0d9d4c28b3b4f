import { expect, test } from 'vitest';
import { countedWords, nearestFirst, windowWords } from './rate-model.ts';

test('a rate is told in words', () => {
  expect(countedWords({ actions: null, tools: null })).toBe('every action');
  expect(countedWords({ actions: ['tool_call'], tools: ['pay*'] })).toBe('tool call, pay*');
  expect([45, 90, 120, 7200].map(windowWords)).toEqual(['45 s', '90 s', '2 min', '2 h']);
});

test('the fullest rate comes first', () => {
  const rates = [
    { count: 1, max: 10 },
    { count: 9, max: 10 },
    { count: 10, max: 100 },
  ];
  expect(nearestFirst(rates).map(({ count }) => count)).toEqual([9, 1, 10]);
});

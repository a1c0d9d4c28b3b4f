import { expect, test } from 'vitest';
import { lookalikeOf, twinOf } from './lookalike.ts';

const known = new Set(['params', 'method', 'link']);

test.each(['Params', 'PARAMS', 'param\u017f', 'lin\u212a', 'mEthod'])('%s looks like a known name', (name) => {
  expect(lookalikeOf(['other', name, 'params'], known)).toBe(name);
});

test.each(['params', 'param', 'my_method', ''])('%j looks like none, or is one', (name) => {
  expect(lookalikeOf([name], known)).toBeUndefined();
});

test('twins differ by case alone, and are not both declared', () => {
  expect(twinOf(['path', 'Path'], new Set())).toBe('Path');
  expect(twinOf(['Path'], new Set(['path']))).toBe('Path');
  expect(twinOf(['Path', 'path'], new Set(['path']))).toBe('Path');
  expect(twinOf(['a', 'A'], new Set(['a', 'A']))).toBeUndefined();
  expect(twinOf(['a', 'b', 'ab'], new Set(['c']))).toBeUndefined();
});

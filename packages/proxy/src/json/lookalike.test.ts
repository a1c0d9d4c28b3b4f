import { expect, test } from 'vitest';
import { lookalikeOf } from './lookalike.ts';

const known = new Set(['params', 'method', 'link']);

test.each(['Params', 'PARAMS', 'param\u017f', 'lin\u212a', 'mEthod'])('%s looks like a known name', (name) => {
  expect(lookalikeOf(['other', name, 'params'], known)).toBe(name);
});

test.each(['params', 'param', 'my_method', ''])('%j looks like none, or is one', (name) => {
  expect(lookalikeOf([name], known)).toBeUndefined();
});

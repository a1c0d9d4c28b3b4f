import { expect, test } from 'vitest';
import { tokenIn } from './mail-token.ts';

test.each([
  ['token=abc-_1', 'abc-_1'],
  ['#token=abc', 'abc'],
  ['a=b&token=abc', 'abc'],
  ['token=', undefined],
  ['token=%20', undefined],
  ['', undefined],
  ['abc', undefined],
])('the fragment %j holds the token %j', (fragment, token) => {
  expect(tokenIn(fragment)).toBe(token);
});

import { expect, test } from 'vitest';
import { RareErrors } from './rare-errors.ts';

test('an error is passed on once a minute, and another one at once', () => {
  const said: string[] = [];
  let now = 0;
  const errors = new RareErrors(
    ({ message }) => said.push(message),
    () => now,
  );
  expect(errors.report('a')).toBe(true);
  expect(errors.report('a')).toBe(false);
  expect(errors.report('b')).toBe(true);
  expect(errors.report('3 of them', 'count')).toBe(true);
  now = 59_999;
  expect(errors.report('a')).toBe(false);
  expect(errors.report('4 of them', 'count')).toBe(false);
  now = 60_000;
  expect(errors.report('a')).toBe(true);
  expect(errors.report('5 of them', 'count')).toBe(true);
  expect(said).toEqual(['a', 'b', '3 of them', 'a', '5 of them']);
});

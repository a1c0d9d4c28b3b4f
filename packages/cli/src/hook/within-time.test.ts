import { expect, test } from 'vitest';
import { TookTooLong, withinTime } from './within-time.ts';

test('gives what the work gives, and throws what it throws', () => {
  expect(withinTime(10_000, () => 7)).toBe(7);
  expect(() =>
    withinTime(10_000, () => {
      throw new RangeError('no');
    }),
  ).toThrow(RangeError);
});

test('ends work that would never end', () => {
  const forever = () => {
    for (;;);
  };
  expect(() => withinTime(5, forever)).toThrow(TookTooLong);
});

test('ends a regular expression that goes back and forth', () => {
  const pattern = /^(?:a|a)*$/;
  expect(() => withinTime(5, () => pattern.test(`${'a'.repeat(200)}b`))).toThrow(TookTooLong);
});

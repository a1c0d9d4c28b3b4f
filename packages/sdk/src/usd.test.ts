import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReeveInvalidRequest } from './errors.ts';
import { usd } from './usd.ts';

test('a text is taken exactly', () => {
  const micros = fc.integer({ min: 0, max: 999_999_999_999_999 });
  fc.assert(
    fc.property(micros, (amount) => {
      const whole = Math.floor(amount / 1_000_000);
      const text = `${whole}.${String(amount % 1_000_000).padStart(6, '0')}`;
      expect(usd(text)).toBe(amount);
    }),
  );
  expect([usd('1'), usd('1.37'), usd('0.0125')]).toEqual([1_000_000, 1_370_000, 12_500]);
});

test('a number is rounded to the nearest micro-dollar', () => {
  expect([usd(0.1 + 0.2), usd(1.37), usd(0.000_000_4), usd(0)]).toEqual([300_000, 1_370_000, 0, 0]);
});

test.each(['', '1,37', '-1', '1.', '.5', '1.0000001', '1e3', ' 1', 'NaN'])('%j is no amount', (text) => {
  expect(() => usd(text)).toThrow(ReeveInvalidRequest);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])('%d is no amount', (amount) => {
  expect(() => usd(amount)).toThrow(ReeveInvalidRequest);
});

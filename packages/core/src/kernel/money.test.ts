import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { microsOfUsd, mostMicros, parseUsd, usdOfMicros } from './money.ts';

test.each([
  [0, '0.00'],
  [1_370_000, '1.37'],
  [42, '0.000042'],
  [12_000_000, '12.00'],
  [100, '0.0001'],
  [-1_500_000, '-1.50'],
])('%i micro-dollars are %s', (micros, text) => {
  expect(usdOfMicros(micros)).toBe(text);
});

test.each([
  [0.1, 100_000],
  [0.29, 290_000],
  [1.005, 1_005_000],
  [19.99, 19_990_000],
  [0.0000001, 1],
  [0, 0],
])('%d dollars are %i micro-dollars', (usd, micros) => {
  expect(microsOfUsd(usd)).toBe(micros);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 1_000_000_001])('%d is no amount', (usd) => {
  expect(microsOfUsd(usd)).toBeUndefined();
});

test('what is written is read as the same amount', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: mostMicros / 1000 }), (micros) => {
      expect(microsOfUsd(Number(usdOfMicros(micros)))).toBe(micros);
    }),
  );
});

test.each([
  ['-1.50', -1_500_000],
  ['+2', 2_000_000],
  ['0.000001', 1],
  ['-0', 0],
  ['999999999999.999999', 999_999_999_999_999_999n],
  ['-9007199254.740992', -9_007_199_254_740_992n],
  ['9007199254.740991', 9_007_199_254_740_991],
])('the text %s is %s micro-dollars', (text, micros) => {
  expect(parseUsd(text)).toBe(micros);
});

test.each(['', '-', '1.', '.5', '1e3', '0x1', '1.0000001', ' 1', '1 ', '1000000000000', '--1', 'NaN', '１'])(
  'the text "%s" is no amount',
  (text) => {
    expect(parseUsd(text)).toBeUndefined();
  },
);

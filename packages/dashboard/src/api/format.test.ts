import { describe, expect, test } from 'vitest';
import { formatDuration, formatUsd, formatUtc, microsToUsd, plural, usdToMicros } from './format.ts';

describe('money', () => {
  test.each([
    ['0.00', '$0.00'],
    ['1.5', '$1.50'],
    ['1234567.891000', '$1,234,567.89'],
    ['0.999', '$1.00'],
    ['0.0149', '$0.01'],
    ['0.01', '$0.01'],
    ['0.009960', '$0.01'],
    ['0.001234', '$0.0012'],
    ['0.0005', '$0.0005'],
    ['0.000001', '$0.000001'],
    ['-0.000129', '-$0.00013'],
    ['0.000000', '$0.00'],
    ['-12.30', '-$12.30'],
    ['9007199254740993.01', '$9,007,199,254,740,993.01'],
    ['nonsense', '–'],
  ])('%s is shown as %s, by its digits', (usd, shown) => expect(formatUsd(usd)).toBe(shown));

  test.each([
    [0, '0.000000'],
    [1, '0.000001'],
    [1_370_000, '1.370000'],
    [-2_500_000, '-2.500000'],
  ])('%d millionths are %s dollars', (micros, usd) => {
    expect(microsToUsd(micros)).toBe(usd);
    expect(usdToMicros(usd)).toBe(BigInt(micros));
  });

  test('what is no amount has no millionths', () => {
    expect(['', '1.2345678', '1e3', 'x'].map(usdToMicros)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('times', () => {
  test.each([
    [0, '0.0 s'],
    [-50, '0.0 s'],
    [4260, '4.2 s'],
    [59_999, '59 s'],
    [185_000, '3 m 05 s'],
    [7_620_000, '2 h 07 m'],
    [356_400_000, '4 d 3 h'],
  ])('%d ms are %s', (ms, shown) => expect(formatDuration(ms)).toBe(shown));

  test('the exact moment is in UTC with milliseconds', () => {
    expect(formatUtc(new Date('2026-03-04T05:06:07.089Z'))).toBe('2026-03-04 05:06:07.089 UTC');
  });
});

test('one is not many', () => {
  expect([plural(1, 'operation'), plural(0, 'operation'), plural(2, 'entry', 'entries')]).toEqual([
    '1 operation',
    '0 operations',
    '2 entries',
  ]);
});

import { describe, expect, test } from 'vitest';
import { chartOf, sumOf } from './decision-chart-model.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 30);
const ago = (minutes: number) => now - minutes * 60_000;

const minute = (at: number, allow: number, deny = 0, pending = 0) => ({
  at: new Date(at - (at % 60_000)).toISOString(),
  allow,
  deny,
  pending,
});

describe('the chart of decisions', () => {
  test('stacks the outcomes of a minute as shares of a round number', () => {
    const { bars, top } = chartOf([minute(now, 10, 4, 2)], ago(100), now, 1);
    expect(top).toBe(20);
    expect(bars[0]?.parts).toEqual([
      { outcome: 'allow', from: 0, height: 0.5 },
      { outcome: 'pending', from: 0.5, height: 0.1 },
      { outcome: 'deny', from: 0.6, height: 0.2 },
    ]);
  });

  test.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [10, 10],
    [11, 20],
    [999, 1000],
  ])('a highest minute of %i has %i at the top', (most, top) => {
    expect(chartOf([minute(now, most)], ago(100), now, 60).top).toBe(top);
  });

  test('has a bar for each minute, without height where nothing was decided', () => {
    const { bars, unknown } = chartOf([minute(ago(2), 3), minute(now, 1)], ago(100), now, 4);
    expect(bars.map((bar) => bar.minute.allow)).toEqual([0, 3, 0, 1]);
    expect(unknown).toBe(0);
  });

  test('leaves the minutes before the gateway started free, instead of showing 0', () => {
    const { bars, unknown } = chartOf([minute(now, 1)], ago(1), now, 60);
    expect([bars.length, unknown]).toEqual([2, 58]);
  });

  test('shows no more than it spans, the newest', () => {
    const minutes = Array.from({ length: 90 }, (_, at) => minute(ago(89 - at), at));
    expect(chartOf(minutes, ago(1000), now, 60).bars.map((bar) => bar.minute.allow)).toEqual(
      Array.from({ length: 60 }, (_, at) => at + 30),
    );
  });

  test('sums by outcome', () => {
    expect(sumOf([minute(now, 1, 2, 3), minute(now, 10)])).toEqual({ allow: 11, deny: 2, pending: 3 });
  });
});

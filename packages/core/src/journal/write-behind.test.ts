import { expect, test } from 'vitest';
import { cpuMs } from '../testkit/cpu-time.ts';
import type { Applying } from './meaning.ts';
import { WriteBehind } from './write-behind.ts';

const rowOf = (item: number) => [`item ${item}`, item] as const;
const here: Applying = { isHere: true, seq: Number.POSITIVE_INFINITY, onDurable: (effect) => effect() };

function changedItems(count: number): WriteBehind<number> {
  const rows = new WriteBehind<number>();
  for (let item = 0; item < count; item++) rows.changed(`item ${item}`, item);
  return rows;
}

test('a step of a save that is taken back goes through what waits once, not once for each of its rows', () => {
  const rows = changedItems(10_000);
  const takenBack = (most: number) => () => {
    rows.begin(1);
    const step = rows.next(most, rowOf);
    rows.apply(step.rows, step.asOf, { ...here, onDurable: () => undefined })();
  };
  const one = cpuMs(takenBack(1));
  expect(cpuMs(takenBack(100))).toBeLessThan(one * 10);
  rows.begin(1);
  expect(rows.next(2, rowOf).rows.map(([key]) => key)).toEqual(['item 0', 'item 1']);
  expect(rows.next(20_000, rowOf)).toMatchObject({ rows: { length: 10_000 }, asOf: 1 });
});

test('a save writes what had changed when it began, and its last step moves the mark to that entry', () => {
  const rows = changedItems(3);
  expect(rows.neededFrom(7)).toBe(0);
  rows.begin(7);
  const first = rows.next(2, rowOf);
  expect(first).toMatchObject({ rows: { length: 2 }, asOf: null });
  rows.apply(first.rows, first.asOf, here);
  rows.changed('item 9', 9);
  const last = rows.next(2, rowOf);
  expect(last).toEqual({ rows: [rowOf(2)], asOf: 7 });
  rows.apply(last.rows, last.asOf, here);
  expect([rows.mark, rows.isSaving, rows.hasChanged, rows.neededFrom(9)]).toEqual([7, false, true, 7]);
});

test('a save of another gateway ends the one here, which begins anew', () => {
  const rows = changedItems(3);
  rows.begin(7);
  rows.apply([], 8, { ...here, isHere: false });
  expect([rows.mark, rows.isSaving, rows.hasChanged]).toEqual([8, false, true]);
  rows.begin(9);
  expect(rows.next(9, rowOf)).toMatchObject({ rows: { length: 3 }, asOf: 9 });
});

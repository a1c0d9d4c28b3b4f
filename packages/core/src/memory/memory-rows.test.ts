import { expect, test } from 'vitest';
import type { Table } from '../journal/rows.ts';
import { every, flag, integer, numberIn, prune, put, remove, text, textIn, update } from '../journal/rows.ts';
import { MemoryRows } from './memory-rows.ts';

interface Item {
  readonly id: string;
  readonly version: number;
  readonly age: number;
}

const table: Table<Item, 'id' | 'version'> = {
  name: 'things',
  key: { id: text(({ id }) => id), version: integer(({ version }) => version) },
  columns: { age: integer(({ age }) => age), is_old: flag(({ age }) => age >= 10) },
  itemOf: (row) => ({ id: textIn(row, 'id'), version: numberIn(row, 'version'), age: numberIn(row, 'age') }),
};
/** Rows of things that others need. */
const needed: Table<{ readonly id: string }, 'id'> = {
  name: 'needed',
  key: { id: text(({ id }) => id) },
  columns: {},
  itemOf: (row) => ({ id: textIn(row, 'id') }),
};

const item = (id: string, version: number, age: number): Item => ({ id, version, age });

function rowsWith(...items: readonly Item[]): MemoryRows {
  const rows = new MemoryRows();
  for (const each of items) rows.apply(put(table, each));
  return rows;
}

const ages = (rows: MemoryRows) => rows.all(table).map(({ age }) => age);

test('a row stands in place of the one with its key, and goes with it', () => {
  const rows = rowsWith(item('a', 1, 1), item('a', 2, 2), item('a', 1, 3));
  expect(ages(rows)).toEqual([3, 2]);
  rows.apply(remove(table, { version: 2, id: 'a' }));
  expect(ages(rows)).toEqual([3]);
});

test('what is stored decides what is stored next', () => {
  const rows = rowsWith(item('a', 1, 1));
  rows.apply(update(table, { id: 'a', version: 1 }, (before) => before && { ...before, age: before.age + 1 }));
  rows.apply(update(table, { id: 'b', version: 1 }, (before) => before));
  expect(ages(rows)).toEqual([2]);
  rows.apply(update(table, { id: 'a', version: 1 }, () => undefined));
  expect(ages(rows)).toEqual([]);
});

test('retention takes the first of what fits, or the last beyond those that are kept, and leaves what is needed', () => {
  const items = [item('a', 1, 12), item('b', 1, 10), item('c', 1, 11), item('d', 1, 1)];
  const old = [{ column: 'is_old', is: 'on' }] as const;
  const first = rowsWith(...items);
  first.apply(prune(table, old, { order: ['age'], most: 2 }));
  expect(ages(first)).toEqual([12, 1]);
  const last = rowsWith(...items);
  last.apply(prune(table, old, { order: ['age'], most: 1, beyond: 1 }));
  expect(ages(last)).toEqual([12, 10, 1]);
  const kept = rowsWith(...items);
  kept.apply(put(needed, { id: 'b' }));
  kept.apply(prune(table, old, { order: ['age'], most: 9, unlessIn: needed }));
  expect(ages(kept)).toEqual([10, 1]);
});

test('a start reads what fits, the newest of it, or the latest of each', () => {
  const rows = rowsWith(item('a', 1, 12), item('b', 1, 1), item('a', 2, 10));
  expect(rows.read(every(table, [{ column: 'is_old', is: 'off' }])).map(({ id }) => id)).toEqual(['b']);
  expect(rows.read(every(table, [], { newest: { by: ['age'], most: 2 } })).map(({ age }) => age)).toEqual([12, 10]);
  expect(rows.read(every(table, [], { latest: 'version' })).map(({ id, version }) => [id, version])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});

test('an index follows what is written, replaced and given up', () => {
  const rows = new MemoryRows();
  const byAge = rows.index(table, ({ age }) => String(age));
  for (const each of [item('a', 1, 1), item('b', 1, 1), item('a', 1, 2)]) rows.apply(put(table, each));
  expect(byAge('1').map(({ id }) => id)).toEqual(['b']);
  expect(byAge('2').map(({ id }) => id)).toEqual(['a']);
  rows.apply(prune(table, [{ column: 'age', is: '<', value: 2 }]));
  expect(byAge('1')).toEqual([]);
});

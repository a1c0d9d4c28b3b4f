import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Part } from './chunked-set.ts';
import { ChunkedSet } from './chunked-set.ts';
import { WideMap } from './wide-map.ts';

interface Item {
  readonly name: number;
  part: Part<Item> | undefined;
}

const slot = {
  read: (item: Item) => item.part,
  write: (item: Item, part: Part<Item> | undefined) => {
    item.part = part;
  },
};

function itemsUpTo(count: number): Item[] {
  return Array.from({ length: count }, (_, name) => ({ name, part: undefined }));
}

const most = 20_000;
/** Whole stretches come and go, so that parts fill up and become empty. */
const stretch = fc.record({
  from: fc.integer({ min: 0, max: most - 1 }),
  count: fc.integer({ min: 1, max: most }),
  add: fc.boolean(),
});

test('a chunked set has the items of a set, in its order', () => {
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 12 }), (stretches) => {
      const items = itemsUpTo(most);
      const chunked = new ChunkedSet(slot);
      const model = new Set<Item>();
      for (const { from, count, add } of stretches) {
        for (const item of items.slice(from, from + count)) {
          if (add) {
            chunked.add(item);
            model.add(item);
          } else if (chunked.delete(item) !== model.delete(item)) throw new Error(`${item.name} was and was not there`);
        }
        expect(chunked.size).toBe(model.size);
      }
      expect([...chunked].map(({ name }) => name)).toEqual(Array.from(model, ({ name }) => name));
      expect(items.filter((item) => chunked.has(item) !== model.has(item))).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('whoever goes through a chunked set meets what stays, and nothing that has gone or comes twice', () => {
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 12 }), fc.integer({ min: 1, max: 5000 }), (stretches, pace) => {
      const items = itemsUpTo(most);
      const [chunked, model] = [new ChunkedSet(slot), new Set<Item>()];
      for (const item of items.slice(0, most / 2)) {
        chunked.add(item);
        model.add(item);
      }
      const left = [...stretches];
      const through = (all: Iterable<Item>, change: (item: Item, add: boolean) => void) => {
        const met: number[] = [];
        left.splice(0, left.length, ...stretches);
        for (const item of all) {
          met.push(item.name);
          const next = met.length % pace === 0 ? left.shift() : undefined;
          if (next === undefined) continue;
          for (const each of items.slice(next.from, next.from + next.count)) change(each, next.add);
        }
        return met;
      };
      const met = through(chunked, (item, add) => (add ? chunked.add(item) : chunked.delete(item)));
      expect(met).toEqual(through(model, (item, add) => (add ? model.add(item) : model.delete(item))));
    }),
    { numRuns: 25 },
  );
});

test('a wide map has what a map has', () => {
  const step = fc.record({ key: fc.string({ maxLength: 3 }), value: fc.option(fc.nat(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.integer(), fc.array(step), (seed, steps) => {
      const wide = new WideMap<number>(seed);
      const model = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          wide.delete(key);
          model.delete(key);
        } else if (value % 2 === 0) {
          wide.set(key, value);
          model.set(key, value);
        } else {
          expect(wide.setNew(key, value)).toBe(model.get(key));
          if (!model.has(key)) model.set(key, value);
        }
        for (const { key: each } of steps) expect(wide.get(each)).toBe(model.get(each));
      }
    }),
  );
});

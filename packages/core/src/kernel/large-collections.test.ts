import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Part } from './chunked-set.ts';
import { ChunkedSet } from './chunked-set.ts';
import { hashOf } from './hash-of.ts';
import { WideIndex } from './wide-index.ts';

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

interface Keyed {
  readonly key: string;
}

/** So many keys that parts grow, and so many of one hash that buckets overflow. */
const keyOfStep = fc.integer({ min: 0, max: 5000 }).map((number) => `key ${number}`);
const wideStep = fc.record({ key: keyOfStep, way: fc.constantFrom('set', 'setNew', 'delete') });
const hashes = {
  'one that spreads them': (key: string) => hashOf(key, 7),
  'one that spreads them over few buckets': (key: string) => hashOf(key, 7) & 0x0000_3f00,
  'one that is the same for all': () => 0xffff_ffff,
};

test.each(Object.entries(hashes))('a wide index has what a map has, by a hash: %s', (_, hash) => {
  fc.assert(
    fc.property(fc.array(wideStep, { maxLength: 3000, size: 'max' }), (steps) => {
      const wide = new WideIndex<Keyed>(({ key }) => key, hash);
      const model = new Map<string, Keyed>();
      for (const { key, way } of steps) {
        const value = { key };
        if (way === 'delete') {
          wide.delete(key);
          model.delete(key);
        } else if (way === 'set') {
          wide.set(value);
          model.set(key, value);
        } else {
          expect(wide.setNew(value)).toBe(model.get(key));
          if (!model.has(key)) model.set(key, value);
        }
      }
      expect(steps.filter(({ key }) => wide.get(key) !== model.get(key))).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

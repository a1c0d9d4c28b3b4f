import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

test('it keeps so many of the entries that were set last, unless they were removed, and at most twice as many', () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 12 }).map(String), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
      const map = new RecentMap<number>(most);
      // In order of their last setting. What was removed since has no value, and still counts as one of the last.
      const all = new Map<string, number | undefined>();
      for (const [at, { key, remove }] of steps.entries()) {
        if (remove) {
          map.delete(key);
          if (all.has(key)) all.set(key, undefined);
        } else {
          map.set(key, at);
          all.delete(key);
          all.set(key, at);
        }
        for (const [known, value] of [...all].slice(-most)) expect(map.get(known)).toBe(value);
        for (const [known, value] of all) expect([value, undefined]).toContain(map.get(known));
        expect(map.size).toBeLessThanOrEqual(2 * most);
        if (remove) expect(map.get(key)).toBeUndefined();
      }
    }),
  );
});

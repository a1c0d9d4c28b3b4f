import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

test('it keeps at least so many of the entries that were set last, and at most twice as many', () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 12 }).map(String), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
      const map = new RecentMap<number>(most);
      // In order of their last setting.
      const all = new Map<string, number>();
      for (const [at, { key, remove }] of steps.entries()) {
        all.delete(key);
        if (remove) map.delete(key);
        else {
          map.set(key, at);
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

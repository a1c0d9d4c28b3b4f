import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

const settings = fc.record({
  initialBackoffMs: fc.double({ min: 0.1, max: 10_000, noNaN: true }),
  maxBackoffMs: fc.double({ min: 0.1, max: 100_000, noNaN: true }),
});
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('the wait is anything from nothing to a limit that doubles up to its maximum', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5000 }), settings, fraction, (retry, given, random) => {
      const wait = backoffMs(retry, given, () => random);
      const limit = Math.min(given.maxBackoffMs, given.initialBackoffMs * 2 ** retry);
      expect(wait).toBe(random * limit);
      expect(Number.isFinite(wait)).toBe(true);
      expect(wait).toBeLessThanOrEqual(given.maxBackoffMs);
    }),
  );
});

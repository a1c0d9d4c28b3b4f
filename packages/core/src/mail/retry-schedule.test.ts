import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAfter } from './mailer.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe('a letter that could not be sent', () => {
  test('is tried again within 15 seconds of the first failure, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (jitter) => {
        const wait = retryAfter({ failures: 1, ageMs: 0, jitter });
        expect(wait).toBeGreaterThan(1_000);
        expect(wait).toBeLessThan(15_000);
      }),
    );
  });

  test('waits twice as long each time, and never longer than a quarter of an hour', () => {
    const waits = Array.from({ length: 10 }, (_, n) => retryAfter({ failures: n + 1, ageMs: 0, jitter: 0 }));
    expect(waits.map((wait) => (wait ?? 0) / 1000)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
    expect(retryAfter({ failures: 5_000, ageMs: 0, jitter: 0 })).toBe(15 * minute);
  });

  test('waits up to a fifth less by the jitter', () => {
    expect(retryAfter({ failures: 9, ageMs: 0, jitter: 0.5 })).toBe(13.5 * minute);
    expect(retryAfter({ failures: 9, ageMs: 0, jitter: 1 })).toBe(12 * minute);
  });

  test('is given up once the next try would find it more than a day old', () => {
    expect(retryAfter({ failures: 100, ageMs: day - 15 * minute, jitter: 0 })).toBe(15 * minute);
    expect(retryAfter({ failures: 100, ageMs: day - 15 * minute + 1, jitter: 0 })).toBeNull();
    expect(retryAfter({ failures: 1, ageMs: 2 * day, jitter: 0 })).toBeNull();
  });
});

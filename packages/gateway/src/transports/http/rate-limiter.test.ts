import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

describe('a rate limiter', () => {
  test('lets a minute’s worth through at once, then one whenever one has refilled', () => {
    let now = 1000;
    const limiter = new RateLimiter(6, () => now);
    for (let remaining = 5; remaining >= 0; remaining--) {
      expect(limiter.take('a')).toMatchObject({ allowed: true, limit: 6, remaining });
    }
    expect(limiter.take('a')).toEqual({ allowed: false, limit: 6, remaining: 0, resetSecs: 10 });
    now += 9_999;
    expect(limiter.take('a')).toMatchObject({ allowed: false, resetSecs: 1 });
    now += 1;
    expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.take('a')).toMatchObject({ allowed: false });
    now += 60_000;
    expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: 5 });
  });

  test('knows each name by itself', () => {
    const limiter = new RateLimiter(1, () => 0);
    expect(limiter.take('a')?.allowed).toBe(true);
    expect(limiter.take('a')?.allowed).toBe(false);
    expect(limiter.take('b')?.allowed).toBe(true);
  });

  test('of 0 says nothing and refuses nothing', () => {
    const limiter = new RateLimiter(0, () => 0);
    for (let i = 0; i < 1000; i++) expect(limiter.take('a')).toBeUndefined();
  });

  test('forgets who was here longest ago, not whoever came first and still calls', () => {
    const limiter = new RateLimiter(1, () => 0);
    limiter.take('regular');
    for (let i = 0; i < 150_000; i++) {
      limiter.take(`passer-by ${i}`);
      if (i % 50_000 === 0) expect(limiter.take('regular')?.allowed).toBe(false);
    }
    expect(limiter.take('passer-by 149999')?.allowed).toBe(false);
  });

  const calls = fc.array(fc.record({ wait: fc.nat({ max: 30_000 }), times: fc.integer({ min: 1, max: 8 }) }), {
    minLength: 1,
    maxLength: 40,
  });

  test('never lets more through in any minute than twice its limit, and never more than refilled', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), calls, (limit, bursts) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        const allowed: number[] = [];
        for (const { wait, times } of bursts) {
          now += wait;
          for (let i = 0; i < times; i++) if (limiter.take('a')?.allowed === true) allowed.push(now);
        }
        for (const from of allowed) {
          const within = allowed.filter((at) => at >= from && at - from < 60_000).length;
          expect(within).toBeLessThanOrEqual(2 * limit);
        }
        expect(allowed.length).toBeLessThanOrEqual(limit + (now * limit) / 60_000 + 1e-6);
      }),
    );
  });

  test('lets a call through once the time has passed that it told to wait, and not before a second less', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6000 }), fc.nat({ max: 59_999 }), (limit, idle) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        while (limiter.take('a')?.allowed === true);
        now += Math.min(idle, 60_000 / limit - 1);
        const refused = limiter.take('a');
        fc.pre(refused !== undefined && !refused.allowed);
        expect(refused?.resetSecs).toBeGreaterThanOrEqual(1);
        now += (refused?.resetSecs ?? 0) * 1000;
        expect(limiter.take('a')?.allowed).toBe(true);
      }),
    );
  });

  test('says truly how many are left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), calls, (limit, bursts) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        for (const { wait, times } of bursts) {
          now += wait;
          let left: number | undefined;
          for (let i = 0; i < times; i++) {
            const allowance = limiter.take('a');
            if (left !== undefined) {
              expect(allowance?.allowed).toBe(left > 0);
              expect(allowance?.remaining).toBe(Math.max(0, left - 1));
            }
            left = allowance?.remaining;
          }
        }
      }),
    );
  });
});

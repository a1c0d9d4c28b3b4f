import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

describe('a rate limiter', () => {
  test('lets a minute’s worth through at once, and as much again a minute later', () => {
    let now = 1000;
    const limiter = new RateLimiter(6, () => now);
    for (let remaining = 5; remaining >= 0; remaining--) {
      expect(limiter.take('a')).toEqual({ allowed: true, limit: 6, remaining, resetSecs: 60 });
    }
    expect(limiter.take('a')).toEqual({ allowed: false, limit: 6, remaining: 0, resetSecs: 60 });
    now += 59_999;
    expect(limiter.take('a')).toMatchObject({ allowed: false, resetSecs: 1 });
    now += 1;
    expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: 5 });
  });

  test('refuses one call too many, however slowly they come', () => {
    let now = 0;
    const limiter = new RateLimiter(30, () => now);
    for (let call = 0; call < 30; call++) {
      expect(limiter.take('a')?.allowed).toBe(true);
      now += 1900;
    }
    expect(limiter.take('a')).toMatchObject({ allowed: false });
  });

  test('gives back little by little what came little by little', () => {
    let now = 0;
    const limiter = new RateLimiter(12, () => now);
    for (let call = 0; call < 12; call++, now += 5000) limiter.take('a');
    for (let call = 0; call < 12; call++, now += 5000) {
      expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: 0, resetSecs: 5 });
      expect(limiter.take('a')).toMatchObject({ allowed: false, resetSecs: 5 });
    }
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

  test('never lets more through in any minute than its limit', () => {
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
          expect(within).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test('refuses nobody whose calls of the last minute and a slot are below its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), calls, (limit, bursts) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        const allowed: number[] = [];
        for (const { wait, times } of bursts) {
          now += wait;
          for (let i = 0; i < times; i++) {
            const recent = allowed.filter((at) => now - at < 65_000).length;
            if (limiter.take('a')?.allowed === true) allowed.push(now);
            else expect(recent).toBeGreaterThanOrEqual(limit);
          }
        }
      }),
    );
  });

  test('lets a call through once the time has passed that it told to wait', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), calls, (limit, bursts) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        for (const { wait, times } of bursts) {
          now += wait / 16;
          for (let i = 0; i < times; i++) {
            const { allowed = false, resetSecs = 0 } = limiter.take('a') ?? {};
            if (allowed) continue;
            expect(resetSecs).toBeGreaterThanOrEqual(1);
            expect(resetSecs).toBeLessThanOrEqual(60);
            now += resetSecs * 1000;
            expect(limiter.take('a')?.allowed).toBe(true);
          }
        }
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

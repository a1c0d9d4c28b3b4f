import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateCounter } from './rate-counter.ts';

const start = 1_700_000_000_000;

/** A check counts from its time until its whole step is over for as long as the window. */
class NaiveCounter {
  readonly #times: number[] = [];
  readonly #windowMs: number;
  readonly #stepMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#stepMs = Math.ceil(windowMs / 4096);
  }

  add(at: number): void {
    this.#times.push(at);
  }

  remove(at: number): void {
    const place = this.#times.findIndex((time) => this.#stepOf(time) === this.#stepOf(at));
    if (place >= 0) this.#times.splice(place, 1);
  }

  countAt(now: number): number {
    return this.#times.filter((time) => {
      const first = this.#stepOf(time) * this.#stepMs;
      return first + this.#stepMs - 1 > now - this.#windowMs && first <= now + this.#windowMs;
    }).length;
  }

  #stepOf(at: number): number {
    return Math.floor(at / this.#stepMs);
  }
}

const windows = fc.constantFrom(1000, 3000, 7000, 60_000, 3_600_000, 86_400_000);

describe('a counter', () => {
  test('counts as a list of all times would, whatever the order, and takes checks back', () => {
    fc.assert(
      fc.property(
        windows,
        fc.array(
          fc.tuple(fc.constantFrom('add', 'add', 'add', 'remove', 'ask'), fc.double({ min: 0, max: 3, noNaN: true })),
          {
            maxLength: 80,
          },
        ),
        (windowMs, deeds) => {
          const counter = new RateCounter(windowMs);
          const naive = new NaiveCounter(windowMs);
          for (const [deed, far] of deeds) {
            const at = start + Math.floor(far * windowMs);
            if (deed === 'add') {
              counter.add(at);
              naive.add(at);
            } else if (deed === 'remove') {
              counter.add(at, -1);
              naive.remove(at);
            }
            expect(counter.countAt(at)).toBe(naive.countAt(at));
            expect(new RateCounter(windowMs, counter.saved()).countAt(at)).toBe(naive.countAt(at));
          }
        },
      ),
    );
  });

  test('lets no window have more than the maximum, and no more than a step is lost', () => {
    fc.assert(
      fc.property(
        windows,
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.double({ min: 0, max: 0.7, noNaN: true }), { maxLength: 60 }),
        (windowMs, max, gaps) => {
          const counter = new RateCounter(windowMs);
          const stepMs = Math.ceil(windowMs / 4096);
          const allowed: number[] = [];
          let now = start;
          for (const gap of gaps) {
            now += Math.floor(gap * windowMs);
            const hasRoom = counter.countAt(now) < max;
            const within = (ms: number) => allowed.filter((at) => at > now - ms).length;
            if (hasRoom) {
              counter.add(now);
              counter.forgetOld(now);
              allowed.push(now);
              expect(within(windowMs)).toBeLessThanOrEqual(max);
            } else {
              expect(within(windowMs + stepMs)).toBeGreaterThanOrEqual(max);
              const roomAt = counter.roomAt(now, max);
              expect(roomAt).toBeGreaterThan(now);
              expect(counter.countAt(roomAt)).toBeLessThan(max);
              expect(counter.countAt(roomAt - 1)).toBeGreaterThanOrEqual(max);
            }
          }
        },
      ),
    );
  });

  test('by the millisecond in windows of up to four seconds', () => {
    const counter = new RateCounter(2000);
    counter.add(start);
    expect(counter.countAt(start + 1999)).toBe(1);
    expect(counter.countAt(start + 2000)).toBe(0);
    expect(counter.roomAt(start + 5, 1)).toBe(start + 2000);
  });

  test('stays small, however many checks there are', () => {
    const counter = new RateCounter(86_400_000);
    for (let at = 0; at < 400_000; at++) {
      counter.add(start + at * 1000);
      counter.forgetOld(start + at * 1000);
    }
    expect(counter.saved().steps.length / 2).toBeLessThanOrEqual(3 * 4096);
    expect(counter.countAt(start + 399_999_000)).toBeGreaterThanOrEqual(86_400);
  });

  test('whose clock is behind counts all the same, although others are ahead', () => {
    const counter = new RateCounter(1000);
    for (let at = 0; at < 5; at++) {
      counter.add(start + 50_000 + at);
      counter.add(start + at);
      counter.forgetOld(start + at);
      expect(counter.countAt(start + at)).toBe(at + 1);
    }
  });

  test('of a clock that was ahead, what shares no window with the present does not count', () => {
    const counter = new RateCounter(1000);
    counter.add(start + 3_600_000);
    expect(counter.countAt(start)).toBe(0);
    counter.add(start + 900);
    expect(counter.countAt(start)).toBe(1);
  });

  test('a clock that was ahead for one check does not let all others be forgotten', () => {
    const counter = new RateCounter(60_000);
    counter.add(start + 3_600_000);
    for (let at = 0; at < 5; at++) {
      counter.add(start + at);
      counter.forgetOld(start + at);
    }
    expect(counter.countAt(start + 5)).toBe(5);
  });
});

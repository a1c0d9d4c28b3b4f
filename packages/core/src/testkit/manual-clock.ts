import type { Clock, EpochMs } from '../kernel/clock.ts';

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: EpochMs = 1_700_000_000_000;
  #elapsed = 5_000;

  now(): EpochMs {
    return this.#now;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#now += ms;
    this.#elapsed += ms;
  }

  /** Somebody sets the wall clock. No time passes. */
  setWallClock(byMs: number): void {
    this.#now += byMs;
  }

  /** The process starts again: the monotonic clock counts from a new origin. */
  restart(): void {
    this.#elapsed = 100;
  }
}

/** Of a gateway that was never stopped, however far the test moves its clock. */
export const alwaysListened = { since: Number.NEGATIVE_INFINITY };

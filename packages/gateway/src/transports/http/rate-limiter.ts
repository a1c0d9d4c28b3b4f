import { RecentMap } from '@reeve/core';

/** The result of a limit for one call. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the next part of the allowance comes back. A call that was refused is let through then. */
  readonly resetSecs: number;
}

const windowMs = 60_000;
const slotMs = windowMs / 12;
/** If more callers come within a window, those that came first start anew. */
const mostCallers = 100_000;

/**
 * At most a number of calls for each name, in whatever minute one looks at. Steady refilling would let twice as many
 * through in a minute that begins with a full allowance.
 */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #elapsed: () => number;
  readonly #callers = new RecentMap<LastMinute>(mostCallers);
  #windowEnds = 0;

  constructor(perMinute: number, elapsed: () => number) {
    this.#perMinute = perMinute;
    this.#elapsed = elapsed;
  }

  take(name: string): Allowance | undefined {
    if (this.#perMinute === 0) return undefined;
    const now = this.#elapsed();
    const caller = this.#callerAt(name, now);
    const allowed = caller.passed < this.#perMinute;
    if (allowed) caller.pass(now);
    const resetSecs = Math.max(1, Math.ceil((caller.nextBack(now) - now) / 1000));
    return { allowed, limit: this.#perMinute, remaining: this.#perMinute - caller.passed, resetSecs };
  }

  #callerAt(name: string, now: number): LastMinute {
    // Who has not called for a window has all of its allowance again, and need not be remembered.
    if (now >= this.#windowEnds) {
      this.#callers.forgetOlder();
      this.#windowEnds = now + windowMs;
    }
    const caller = this.#callers.get(name) ?? new LastMinute();
    caller.forget(now);
    this.#callers.set(name, caller);
    return caller;
  }
}

/**
 * How many calls of one caller passed within the last minute, in slots: their number bounds what is remembered, however
 * many calls pass. A slot begins with its first call, and all of its calls come back together: a minute after the last of
 * them, so that none comes back too early.
 */
class LastMinute {
  /** By slot, the oldest first: when its calls come back, and how many there are. Flat lists, as there may be many. */
  readonly #backAt: number[] = [];
  readonly #calls: number[] = [];
  #newestEnds = Number.NEGATIVE_INFINITY;
  #passed = 0;

  get passed(): number {
    return this.#passed;
  }

  forget(now: number): void {
    while (this.#backAt[0] !== undefined && this.#backAt[0] <= now) {
      this.#backAt.shift();
      this.#passed -= this.#calls.shift() ?? 0;
    }
  }

  pass(now: number): void {
    if (now >= this.#newestEnds || this.#backAt.length === 0) {
      this.#newestEnds = now + slotMs;
      this.#backAt.push(0);
      this.#calls.push(0);
    }
    const newest = this.#backAt.length - 1;
    this.#backAt[newest] = now + windowMs;
    this.#calls[newest] = (this.#calls[newest] ?? 0) + 1;
    this.#passed += 1;
  }

  nextBack(now: number): number {
    return this.#backAt[0] ?? now;
  }
}

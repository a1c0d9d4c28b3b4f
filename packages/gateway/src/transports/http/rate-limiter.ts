import { RecentMap } from '@reeve/core';

/** The result of a limit for one call. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the allowance is full again, or until the next call is allowed. */
  readonly resetSecs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const windowMs = 60_000;
/** If more callers come within a window, those that came first start anew. */
const mostBuckets = 100_000;

/**
 * A number of calls per minute for each name. The allowance refills steadily: a minute's worth can be used at once, and
 * no edge of a window lets double through.
 */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #elapsed: () => number;
  readonly #buckets = new RecentMap<Bucket>(mostBuckets);
  #windowEnds = 0;

  constructor(perMinute: number, elapsed: () => number) {
    this.#perMinute = perMinute;
    this.#elapsed = elapsed;
  }

  take(name: string): Allowance | undefined {
    if (this.#perMinute === 0) return undefined;
    const bucket = this.#refilled(name);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const missing = allowed ? this.#perMinute - bucket.tokens : 1 - bucket.tokens;
    const resetSecs = Math.max(1, Math.ceil((missing * windowMs) / this.#perMinute / 1000));
    return { allowed, limit: this.#perMinute, remaining: Math.floor(bucket.tokens), resetSecs };
  }

  #refilled(name: string): Bucket {
    const now = this.#elapsed();
    // What nobody has used for a window is full again, and need not be remembered.
    if (now >= this.#windowEnds) {
      this.#buckets.forgetOlder();
      this.#windowEnds = now + windowMs;
    }
    const known = this.#buckets.get(name);
    const bucket = known ?? { tokens: this.#perMinute, at: now };
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + ((now - bucket.at) * this.#perMinute) / windowMs);
    bucket.at = now;
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

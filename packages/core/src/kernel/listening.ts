import type { Clock } from './clock.ts';

/** What the silence of others is measured by. */
export interface Listened {
  /** Since when, on the monotonic clock, nothing that others said could be missed. */
  readonly since: number;
}

/** Timers look far more often than this, unless the process was stopped or had no time for them. */
const mostGapMs = 1000;

/**
 * Notices that this gateway could not listen: it was stopped, its host was suspended, or `hears` says that words do not
 * reach it. Whoever judges others by the time that has passed counts no time before `since`, because nobody could be
 * heard. It must be read several times a second.
 */
export class Listening implements Listened {
  readonly #clock: Clock;
  readonly #hears: () => boolean;
  #since: number;
  #lookedAt: number;

  constructor(clock: Clock, hears: () => boolean = () => true) {
    this.#clock = clock;
    this.#hears = hears;
    this.#since = clock.elapsed();
    this.#lookedAt = this.#since;
  }

  get since(): number {
    const now = this.#clock.elapsed();
    if (now - this.#lookedAt > mostGapMs || !this.#hears()) this.#since = now;
    this.#lookedAt = now;
    return this.#since;
  }
}

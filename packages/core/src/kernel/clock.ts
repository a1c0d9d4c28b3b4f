/** Milliseconds since the Unix epoch. */
export type EpochMs = number;

/**
 * Time as the core sees it. `now` is the wall clock, which an operator may set back or forward. `elapsed` only ever
 * grows. Ages and timeouts use it, so a jump of the wall clock neither expires nor freezes anything.
 */
export interface Clock {
  now(): EpochMs;
  /** Milliseconds, with fractions, since an arbitrary start. */
  elapsed(): number;
}

/** RFC 3339 in UTC with milliseconds, the form of every timestamp on the wire. */
export function timestamp(at: EpochMs): string {
  return new Date(at).toISOString();
}

/**
 * A `timestamp` that remembers its last answer. Many decisions fall into one millisecond, and formatting a date costs
 * more than comparing a number.
 */
export function rememberingTimestamp(): (at: EpochMs) => string {
  let last = Number.NaN;
  let text = '';
  return (at) => {
    if (at !== last) {
      last = at;
      text = timestamp(at);
    }
    return text;
  };
}

/** Walks through something long, a few steps at a time, and starts over at the end. */
export class SteppedRound {
  readonly #start: () => Generator<void>;
  #round: Generator<void> | undefined;

  constructor(start: () => Generator<void>) {
    this.#start = start;
  }

  /** Takes up to `most` steps. Returns false at the end of the round. */
  step(most: number): boolean {
    this.#round ??= this.#start();
    for (let taken = 0; taken < most; taken++) {
      if (this.#round.next().done !== true) continue;
      this.#round = undefined;
      return false;
    }
    return true;
  }
}

/** What one kind of connections may take of a turn of the event loop. */
export interface TurnShare {
  readonly isUsedUp: boolean;
  /** Whether the rest is for those that come in the meantime. */
  readonly isHalfUsed: boolean;
  /** One of them is at work from now on. */
  begins(now: number): void;
  spend(work: number): void;
  ends(work: number): void;
}

/** That of connections whose work is bounded for each of them. Nobody counts it, or looks at a clock for it. */
export const unboundedShare: TurnShare = {
  isUsedUp: false,
  isHalfUsed: false,
  begins: () => undefined,
  spend: () => undefined,
  ends: () => undefined,
};

/** A share of work that is counted, and of time that is measured. */
export class BoundedShare implements TurnShare {
  isUsedUp = false;
  readonly #work: number;
  readonly #ms: number;
  readonly #clock: () => number;
  #workLeft: number;
  #msLeft: number;
  /** Since when one of them is at work, as far as it is not counted yet. */
  #since: number | undefined;

  constructor(work: number, ms: number, clock: () => number) {
    this.#work = work;
    this.#ms = ms;
    this.#clock = clock;
    this.#workLeft = work;
    this.#msLeft = ms;
  }

  get isHalfUsed(): boolean {
    return this.#workLeft < this.#work / 2 || this.#msLeft < this.#ms / 2;
  }

  /** A new turn of the event loop. */
  renew(): void {
    this.#workLeft = this.#work;
    this.#msLeft = this.#ms;
    this.isUsedUp = false;
  }

  begins(now: number): void {
    this.#since = now;
  }

  /** Counts work, and the time that has passed. */
  spend(work: number): void {
    this.#workLeft -= work;
    if (this.#since !== undefined) {
      const now = this.#clock();
      this.#msLeft -= now - this.#since;
      this.#since = now;
    }
    this.isUsedUp = this.#workLeft <= 0 || this.#msLeft <= 0;
  }

  ends(work: number): void {
    this.spend(work);
    this.#since = undefined;
  }
}

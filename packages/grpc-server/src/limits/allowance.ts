/** Tokens that come back with time and with useful work. */
export class Allowance {
  readonly #most: number;
  readonly #perMs: number;
  #left: number;
  #at: number;

  constructor(most: number, perSecond: number, now: number) {
    this.#most = most;
    this.#perMs = perSecond / 1000;
    this.#left = most;
    this.#at = now;
  }

  /** Returns whether there was enough. */
  spend(tokens: number, now: number): boolean {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs) - tokens;
    this.#at = now;
    return this.#left >= 0;
  }

  earn(tokens: number): void {
    const left = this.#left + tokens;
    this.#left = left > this.#most ? this.#most : left;
  }
}

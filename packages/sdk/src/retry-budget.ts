const wholeToken = 1000;

/**
 * How many retries a client may spend: a burst at first, and a share of every answer after that. However long a gateway
 * is down, retries stay a small part of the traffic. Counted in thousandths, so that ten tenths make one.
 */
export class RetryBudget {
  readonly #most: number;
  readonly #perAnswer: number;
  #left: number;

  constructor(burst: number, ratio: number) {
    this.#most = burst * wholeToken;
    this.#perAnswer = Math.round(ratio * wholeToken);
    this.#left = this.#most;
  }

  /** The gateway has answered a call, whatever it said. */
  answered(): void {
    this.#left = Math.min(this.#most, this.#left + this.#perAnswer);
  }

  /** Takes one retry out of the budget, or tells that there is none left. */
  take(): boolean {
    if (this.#left < wholeToken) return false;
    this.#left -= wholeToken;
    return true;
  }
}

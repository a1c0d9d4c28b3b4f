/** A round through something long, a few steps at a time, and another when it has come to its end. */
export class SteppedRound {
  readonly #start: () => Generator<void>;
  #round: Generator<void> | undefined;

  constructor(start: () => Generator<void>) {
    this.#start = start;
  }

  /** Goes on for up to `most` steps; false where the round has come to its end. */
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

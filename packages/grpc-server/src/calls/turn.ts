import type { TurnOrder } from '../limits/turn-order.ts';

/** What a stranger may do in one turn: frames that begin calls or carry content, and messages of streams. */
const strangersWork = 64;
const trustedWork = 256;

/**
 * What one connection does before others have their turn. It counts work over as many reads as come without a pause, so
 * that neither a long read nor many in a row keep others waiting.
 */
export class Turn {
  readonly #order: TurnOrder;
  /** Called when something waits for a turn to come. */
  readonly #onPostponed: () => void;
  #isTrusted = false;
  #most = strangersWork;
  /** What may be done before it is over. */
  #until = strangersWork;
  #work = 0;
  #postponed: (() => void)[] = [];

  constructor(order: TurnOrder, onPostponed: () => void) {
    this.#order = order;
    this.#onPostponed = onPostponed;
  }

  get isOver(): boolean {
    return this.#work >= this.#until || (!this.#isTrusted && this.#order.areStrangersDone);
  }

  get hasPostponed(): boolean {
    return this.#postponed.length > 0;
  }

  spend(work: number): void {
    this.#work += work;
    if (!this.#isTrusted) this.#order.spend(work);
  }

  trust(): void {
    this.#isTrusted = true;
    this.#most = trustedWork;
    this.#until = trustedWork;
  }

  /** Goes on in a turn to come. */
  postpone(goOn: () => void): void {
    this.#postponed.push(goOn);
    this.#onPostponed();
  }

  /** Calls `goOn` when it is its turn again. False if too many wait for theirs. */
  queue(goOn: () => void): boolean {
    return this.#order.queue(goOn, this.#isTrusted);
  }

  /** A new turn: its first half is for what waited for it, the rest for what comes. */
  begin(): void {
    this.#work = 0;
    this.#until = this.#most / 2;
    let done = 0;
    while (done < this.#postponed.length && !this.isOver) this.#postponed[done++]?.();
    this.#postponed = this.#postponed.slice(done);
    this.#until = this.#most;
    if (this.hasPostponed) this.#onPostponed();
  }

  /** Nothing goes on any more. */
  stop(): void {
    this.#postponed = [];
  }
}

import type { TurnOrder } from '../limits/turn-order.ts';
import type { TurnShare } from '../limits/turn-share.ts';

/** What a stranger may do in one turn: frames, and messages of streams. What is long counts for more. */
const strangersWork = 64;
const trustedWork = 256;
/** Who did less than this in its last turn is quiet. */
const quietWork = 32;
/** What is done between two looks at the clock. */
const lookEvery = 16;
/** A read counts as one for so many bytes, besides its frames. */
const readBytes = 2048;

/**
 * What one connection does before others have their turn. It counts work over as many reads as come without a pause, so
 * that neither a long read nor many in a row keep others waiting.
 */
export class Turn {
  readonly #order: TurnOrder;
  /** Called when something waits for a turn to come. */
  readonly #onPostponed: () => void;
  /** Of all connections of its kind. */
  #share: TurnShare;
  /** The one that it was of before the bytes that are read. */
  #entered: TurnShare;
  #isTrusted = false;
  #most = strangersWork;
  /** What may be done before it is over. */
  #until = strangersWork;
  #work = 0;
  /** What its share has not counted yet. */
  #uncounted = 0;
  #isBusy = false;
  #postponed: (() => void)[] = [];

  constructor(order: TurnOrder, onPostponed: () => void) {
    this.#order = order;
    this.#share = order.shareOf(false);
    this.#entered = this.#share;
    this.#onPostponed = onPostponed;
  }

  get isOver(): boolean {
    return this.#work >= this.#until || this.#share.isUsedUp;
  }

  get hasPostponed(): boolean {
    return this.#postponed.length > 0;
  }

  spend(work: number): void {
    this.#work += work;
    this.#uncounted += work;
    if (this.#uncounted < lookEvery) return;
    this.#share.spend(this.#uncounted);
    this.#uncounted = 0;
  }

  /** So many bytes are about to be read. From now on, time counts. */
  enter(bytes: number, now: number): void {
    this.#entered = this.#share;
    this.#entered.begins(now);
    this.spend(Math.floor(bytes / readBytes));
  }

  /** They have been read, and what answers them was written. */
  leave(): void {
    this.#entered.ends(this.#uncounted);
    this.#uncounted = 0;
    this.#order.hasRead(this.#entered);
  }

  /** Makes as much wait as a read of so many bytes. */
  discard(bytes: number, goOn: () => void): boolean {
    return this.queue(() => {
      this.spend(Math.ceil(bytes / readBytes));
      goOn();
    });
  }

  trust(): void {
    this.#isTrusted = true;
    this.#share = this.#order.shareOf(true);
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
    if (!this.#isTrusted) return this.#order.queue(goOn, 'stranger');
    // Who could do nothing is what it was before.
    if (this.#work > 0) this.#isBusy = this.#work >= quietWork;
    return this.#order.queue(goOn, this.#isBusy ? 'busy' : 'quiet');
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

import type { TurnShare } from './turn-share.ts';
import { BoundedShare, unboundedShare } from './turn-share.ts';

/**
 * What all strangers together may have done before others have their turn. The time is what a trusted call waits for
 * them each time that it needs the event loop.
 */
const strangers = { work: 256, ms: 0.5 };
/** New connections, which are strangers as well, but do not wait behind what the others have sent. */
const arrivals = { work: 16, ms: 0.5 };
/** So many strangers may wait with what they have sent. Each keeps up to two reads in memory. */
const mostStrangers = 2000;

/** Who waits for a turn: a trusted connection that did little in its last one goes before those that did much. */
export type Rank = 'quiet' | 'busy' | 'stranger' | 'arrival';

type Waiting = Record<Rank, (() => void)[]>;

/**
 * Whose turn it is, of connections that have more to do than one turn allows, each kind in the order of its coming. Trusted
 * ones go on in the next turn of the event loop. Strangers share a part of each, so that however many there are, the others
 * hardly notice.
 */
export class TurnOrder {
  readonly #strangers: BoundedShare;
  readonly #arrivals: BoundedShare;
  readonly #clock: () => number;
  #waiting = nobody();
  #isScheduled = false;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#strangers = new BoundedShare(strangers.work, strangers.ms, clock);
    this.#arrivals = new BoundedShare(arrivals.work, arrivals.ms, clock);
  }

  /** What a connection takes its work from. */
  shareOf(isTrusted: boolean): TurnShare {
    return isTrusted ? unboundedShare : this.#strangers;
  }

  /** Something was read. Once much was done in a turn of the event loop, the next one is a new one for sure. */
  hasRead(share: TurnShare): void {
    if (share.isHalfUsed) this.#schedule();
  }

  /** Calls `goOn` when it is its turn. False if too many strangers wait for theirs. */
  queue(goOn: () => void, rank: Rank): boolean {
    const waiting = this.#waiting[rank];
    if (rank === 'stranger' && waiting.length >= mostStrangers) return false;
    waiting.push(goOn);
    this.#schedule();
    return true;
  }

  /** Calls `accept` for a new connection, at once unless many have come. */
  arrive(accept: () => void): void {
    const take = () => {
      this.#arrivals.begins(this.#clock());
      accept();
      this.#arrivals.ends(1);
      this.hasRead(this.#arrivals);
    };
    if (this.#arrivals.isUsedUp || this.#waiting.arrival.length > 0) this.queue(take, 'arrival');
    else take();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#next();
    });
  }

  #next(): void {
    this.#strangers.renew();
    this.#arrivals.renew();
    if (this.#isIdle) return;
    const waiting = this.#waiting;
    this.#waiting = nobody();
    for (const goOn of waiting.quiet) goOn();
    for (const goOn of waiting.busy) goOn();
    this.#serve('stranger', waiting, this.#strangers);
    this.#serve('arrival', waiting, this.#arrivals);
    if (!this.#isIdle) this.#schedule();
  }

  get #isIdle(): boolean {
    const { quiet, busy, stranger, arrival } = this.#waiting;
    return quiet.length + busy.length + stranger.length + arrival.length === 0;
  }

  #serve(rank: Rank, waiting: Waiting, share: TurnShare): void {
    const those = waiting[rank];
    let done = 0;
    while (done < those.length && !share.isUsedUp) those[done++]?.();
    // Those who have more go behind those who have not had their turn.
    if (done < those.length) this.#waiting[rank] = [...those.slice(done), ...this.#waiting[rank]];
  }
}

function nobody(): Waiting {
  return { quiet: [], busy: [], stranger: [], arrival: [] };
}

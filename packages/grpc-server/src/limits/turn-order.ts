/** What all strangers together may have done before others have their turn. */
const strangersWork = 256;
/** So many strangers may wait with what they have sent. Each keeps up to two reads in memory. */
const mostStrangers = 2000;

/**
 * Whose turn it is, of connections that have more to do than one turn allows. Trusted ones go on in the next turn of the
 * event loop. Strangers share a part of each, in the order of their coming, so that however many there are, the others
 * hardly notice.
 */
export class TurnOrder {
  /** What strangers may still do in this turn of the event loop. */
  #left = strangersWork;
  #trusted: (() => void)[] = [];
  #strangers: (() => void)[] = [];
  #isScheduled = false;

  get areStrangersDone(): boolean {
    return this.#left <= 0;
  }

  /** A stranger has done something. */
  spend(work: number): void {
    this.#left -= work;
  }

  /** Calls `goOn` when it is its turn. False if too many strangers wait for theirs. */
  queue(goOn: () => void, isTrusted: boolean): boolean {
    if (!isTrusted && this.#strangers.length >= mostStrangers) return false;
    (isTrusted ? this.#trusted : this.#strangers).push(goOn);
    if (!this.#isScheduled) this.#schedule();
    return true;
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#next();
    });
  }

  #next(): void {
    const trusted = this.#trusted;
    this.#trusted = [];
    for (const goOn of trusted) goOn();
    this.#left = strangersWork;
    const strangers = this.#strangers;
    this.#strangers = [];
    let done = 0;
    while (done < strangers.length && !this.areStrangersDone) strangers[done++]?.();
    // Those who have more go behind those who have not had their turn.
    if (done < strangers.length) this.#strangers = [...strangers.slice(done), ...this.#strangers];
    if (this.#strangers.length > 0 && !this.#isScheduled) this.#schedule();
  }
}

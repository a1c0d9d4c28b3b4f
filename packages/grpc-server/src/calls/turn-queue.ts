/** What waits for its turn. */
interface Waiting {
  isQueued: boolean;
}

/** Those that wait for their turn, in order. What leaves is noticed at its turn, or when the most of the queue has left. */
export class TurnQueue<T extends Waiting> {
  readonly #isWaiting: (one: T) => boolean;
  #queue: T[] = [];
  #head = 0;
  #gone = 0;

  constructor(isWaiting: (one: T) => boolean) {
    this.#isWaiting = isWaiting;
  }

  get isEmpty(): boolean {
    return this.#head === this.#queue.length;
  }

  /** Puts it at the end, unless it is in the queue. */
  add(one: T): void {
    if (one.isQueued) return;
    one.isQueued = true;
    this.#queue.push(one);
  }

  /** Takes the first. It may have left. */
  next(): T | undefined {
    const one = this.#queue[this.#head];
    if (one === undefined) return undefined;
    one.isQueued = false;
    if (++this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return one;
  }

  /** It waits no more. */
  leave(one: T): void {
    if (!one.isQueued || ++this.#gone <= (this.#queue.length - this.#head) / 2) return;
    this.#gone = 0;
    const left = this.#queue.slice(this.#head);
    for (const each of left) each.isQueued = this.#isWaiting(each);
    this.#queue = left.filter(this.#isWaiting);
    this.#head = 0;
  }
}

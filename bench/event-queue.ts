/** Things to happen at times, handed out in order of time, and of arrival where times are equal. A binary heap. */
export class EventQueue {
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #works: (() => void)[] = [];
  #added = 0;
  now = 0;

  /** Does `work` this much later. */
  after(delay: number, work: () => void): void {
    let at = this.#times.length;
    this.#times.push(this.now + delay);
    this.#orders.push(this.#added++);
    this.#works.push(work);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Runs until this time. What is due later never happens. */
  runUntil(end: number): void {
    for (;;) {
      const time = this.#times[0];
      const work = this.#works[0];
      if (time === undefined || work === undefined || time > end) return;
      this.#removeFirst();
      this.now = time;
      work();
    }
  }

  #removeFirst(): void {
    this.#swap(0, this.#times.length - 1);
    this.#times.pop();
    this.#orders.pop();
    this.#works.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      let least = at;
      if (left < this.#times.length && this.#isBefore(left, least)) least = left;
      if (left + 1 < this.#times.length && this.#isBefore(left + 1, least)) least = left + 1;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first = 0, second = 0] = [this.#times[a], this.#times[b]];
    return first < second || (first === second && (this.#orders[a] ?? 0) < (this.#orders[b] ?? 0));
  }

  #swap(a: number, b: number): void {
    swap(this.#times, a, b);
    swap(this.#orders, a, b);
    swap(this.#works, a, b);
  }
}

function swap(items: unknown[], a: number, b: number): void {
  [items[a], items[b]] = [items[b], items[a]];
}

/** Random draws from a seed (mulberry32), so that every finding can be reproduced. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below the bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  oneOf<Item>(items: readonly [Item, ...Item[]]): Item;
  oneOf<Item>(items: readonly Item[]): Item | undefined;
  oneOf<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)];
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** An independent generator, for concurrent work. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32));
  }
}

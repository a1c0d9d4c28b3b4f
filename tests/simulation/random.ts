import { hash } from 'node:crypto';
import type { Randomness } from '@reeve/core';

/** Draws that are the same in every run with the same seed (mulberry32). Every choice of a simulation comes from here. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    const state = this.#state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** In [0, below). */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** Takes one of the weighted items. */
  weighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0);
    for (const item of items) {
      left -= item.weight;
      if (left < 0) return item;
    }
    return this.pick(items);
  }
}

/** What a gateway takes for random. It depends on nothing but the name. */
export function namedRandomness(name: string): Randomness {
  let drawn = 0;
  const bytes = (count: number): Buffer => {
    const made: Buffer[] = [];
    for (let length = 0; length < count; length += 32) made.push(hash('sha256', `${name}/${drawn++}`, 'buffer'));
    return Buffer.concat(made).subarray(0, count);
  };
  return {
    hex: (count) => bytes(count).toString('hex'),
    base64url: (count) => bytes(count).toString('base64url'),
  };
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

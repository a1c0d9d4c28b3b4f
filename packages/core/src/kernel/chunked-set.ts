const mostInPart = 64;

/** A part of a `ChunkedSet`: items in the order in which they came, with gaps where some have gone. */
export class Part<Item> {
  readonly items: (Item | undefined)[] = [];
  /** How many items are left. */
  size = 0;
  older: Part<Item> | undefined;
  newer: Part<Item> | undefined;

  constructor(older: Part<Item> | undefined) {
    this.older = older;
  }
}

/** Where an item notes the part that it is in. */
export interface Slot<Item> {
  read(item: Item): Part<Item> | undefined;
  write(item: Item, part: Part<Item> | undefined): void;
}

/** What can be seen of a `ChunkedSet`. */
export interface ReadonlyChunkedSet<Item> extends Iterable<Item> {
  readonly size: number;
}

/**
 * A set for very many items, in the order in which they came. A set of JavaScript that outgrows its room copies all items
 * at once, which takes 30 ms for 262,144 of them and 300 ms for 524,288. Here short lists hold the items, one after the
 * other, and each item notes in its slot where it is. So it can be in only one set of a slot at a time. An item that stays
 * while its neighbours go keeps their room, a short list.
 *
 * As with other sets, items may come and go while somebody goes through it.
 */
export class ChunkedSet<Item> implements ReadonlyChunkedSet<Item> {
  readonly #slot: Slot<Item>;
  #oldest = new Part<Item>(undefined);
  #newest = this.#oldest;
  #size = 0;

  constructor(slot: Slot<Item>) {
    this.#slot = slot;
  }

  get size(): number {
    return this.#size;
  }

  has(item: Item): boolean {
    return this.#slot.read(item) !== undefined;
  }

  add(item: Item): void {
    if (this.has(item)) return;
    if (this.#newest.items.length === mostInPart) this.#extend();
    const part = this.#newest;
    part.items.push(item);
    part.size++;
    this.#slot.write(item, part);
    this.#size++;
  }

  delete(item: Item): boolean {
    const part = this.#slot.read(item);
    if (part === undefined) return false;
    part.items[part.items.indexOf(item)] = undefined;
    part.size--;
    this.#slot.write(item, undefined);
    this.#size--;
    if (part.size === 0 && part !== this.#newest) this.#drop(part);
    return true;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let part: Part<Item> | undefined = this.#oldest; part !== undefined; part = part.newer) {
      for (let at = 0; at < part.items.length; at++) {
        const item = part.items[at];
        if (item !== undefined) yield item;
      }
    }
  }

  #extend(): void {
    const full = this.#newest;
    this.#newest = new Part(full);
    full.newer = this.#newest;
    if (full.size === 0) this.#drop(full);
  }

  /** The part itself still knows what comes after it, for whoever is going through it. */
  #drop(part: Part<Item>): void {
    if (part.older !== undefined) part.older.newer = part.newer;
    if (part.newer !== undefined) part.newer.older = part.older;
    if (part === this.#oldest) this.#oldest = part.newer ?? this.#newest;
  }
}

const mostInPart = 4096;

/** A part of a `ChunkedSet`. */
export class Part<Item> {
  readonly items = new Set<Item>();
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
 * at once, which takes 30 ms for 262,144 of them and 300 ms for 524,288. Here small sets hold the items, one after the
 * other, and each item notes in its slot where it is. So it can be in only one set of a slot at a time.
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
    if (this.#newest.items.size >= mostInPart) {
      const part = new Part(this.#newest);
      this.#newest.newer = part;
      this.#newest = part;
    }
    this.#newest.items.add(item);
    this.#slot.write(item, this.#newest);
    this.#size++;
  }

  delete(item: Item): boolean {
    const part = this.#slot.read(item);
    if (part === undefined) return false;
    part.items.delete(item);
    this.#slot.write(item, undefined);
    this.#size--;
    if (part.items.size === 0 && part !== this.#newest) this.#drop(part);
    return true;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let part: Part<Item> | undefined = this.#oldest; part !== undefined; part = part.newer) yield* part.items;
  }

  /** The part itself still knows what comes after it, for whoever is going through it. */
  #drop(part: Part<Item>): void {
    if (part.older !== undefined) part.older.newer = part.newer;
    if (part.newer !== undefined) part.newer.older = part.older;
    if (part === this.#oldest) this.#oldest = part.newer ?? this.#newest;
  }
}

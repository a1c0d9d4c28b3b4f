const partCount = 256;

/** The hashes of a bucket are next to each other, so that reading them all costs what reading one costs. */
const inBucket = 8;

/** From this share on, too many buckets would be full. */
const mostFilled = 0.75;

/**
 * Very many values, each found by a text that it knows itself: nothing but the value is kept. A map of JavaScript takes twice
 * the room, and copies all entries at once when it outgrows it: 25 ms for 262,144 of them and 90 ms for 524,288, in which nobody
 * is answered. Here many small tables share the values, and each grows by itself.
 *
 * Whatever texts strangers choose, a look-up reads one bucket. What finds no room in its bucket goes to a plain map.
 */
export class WideIndex<Value> {
  readonly #keyOf: (value: Value) => string;
  readonly #hash: (key: string) => number;
  readonly #parts: readonly IndexPart<Value>[] = Array.from({ length: partCount }, () => new IndexPart<Value>());
  /** What was looked for last. Mostly it is set next, and then not hashed again. */
  #lastKey = '';
  #lastHash = 0;

  /** `hash`: 32 bits that strangers cannot foresee. */
  constructor(keyOf: (value: Value) => string, hash: (key: string) => number) {
    this.#keyOf = keyOf;
    this.#hash = hash;
    this.#lastHash = hash(this.#lastKey);
  }

  get(key: string): Value | undefined {
    const hash = this.#hashOf(key);
    const part = this.#partOf(hash);
    const slot = part.slotOf(hash, key, this.#keyOf);
    return slot === undefined ? part.beyond?.get(key) : part.values[slot];
  }

  /** Sets the value in place of the one with its key, if any. */
  set(value: Value): void {
    const key = this.#keyOf(value);
    const hash = this.#hashOf(key);
    const part = this.#partOf(hash);
    const slot = part.slotOf(hash, key, this.#keyOf);
    if (slot !== undefined) part.values[slot] = value;
    else if (part.beyond?.has(key) === true) part.beyond.set(key, value);
    else part.add(hash, key, value);
  }

  /** Sets the value unless there is one with its key, which it returns. */
  setNew(value: Value): Value | undefined {
    const key = this.#keyOf(value);
    const hash = this.#hashOf(key);
    const part = this.#partOf(hash);
    const slot = part.slotOf(hash, key, this.#keyOf);
    const known = slot === undefined ? part.beyond?.get(key) : part.values[slot];
    if (known === undefined) part.add(hash, key, value);
    return known;
  }

  delete(key: string): void {
    const hash = this.#hashOf(key);
    const part = this.#partOf(hash);
    const slot = part.slotOf(hash, key, this.#keyOf);
    if (slot !== undefined) part.values[slot] = undefined;
    else if (part.beyond?.delete(key) !== true) return;
    part.size--;
  }

  #hashOf(key: string): number {
    if (key !== this.#lastKey) {
      this.#lastHash = this.#hash(key);
      this.#lastKey = key;
    }
    return this.#lastHash;
  }

  #partOf(hash: number): IndexPart<Value> {
    return this.#parts[hash >>> 24] as IndexPart<Value>;
  }
}

function emptySlots(length: number): undefined[] {
  return Array.from({ length }, () => undefined);
}

class IndexPart<Value> {
  size = 0;
  values: (Value | undefined)[] = emptySlots(inBucket);
  /** The hashes of the values, in the same slots. */
  #hashes = new Int32Array(inBucket);
  /** Those whose bucket was full. */
  beyond: Map<string, Value> | undefined;

  slotOf(hash: number, key: string, keyOf: (value: Value) => string): number | undefined {
    const first = this.#bucketOf(hash);
    for (let slot = first; slot < first + inBucket; slot++) {
      if (this.#hashes[slot] !== (hash | 0)) continue;
      const value = this.values[slot];
      if (value !== undefined && keyOf(value) === key) return slot;
    }
    return undefined;
  }

  add(hash: number, key: string, value: Value): void {
    if (this.size >= this.values.length * mostFilled) this.#grow();
    this.size++;
    if (this.#place(hash, value)) return;
    this.beyond ??= new Map();
    this.beyond.set(key, value);
  }

  /** The upper bits have chosen the part. The lower ones depend on few bits of the characters. */
  #bucketOf(hash: number): number {
    return ((hash >>> 8) & (this.values.length / inBucket - 1)) * inBucket;
  }

  #place(hash: number, value: Value): boolean {
    const first = this.#bucketOf(hash);
    for (let slot = first; slot < first + inBucket; slot++) {
      if (this.values[slot] !== undefined) continue;
      this.values[slot] = value;
      this.#hashes[slot] = hash;
      return true;
    }
    return false;
  }

  /** Two buckets have room for what was in one. Those beyond stay there until they go. */
  #grow(): void {
    const [hashes, values] = [this.#hashes, this.values];
    this.#hashes = new Int32Array(values.length * 2);
    this.values = emptySlots(values.length * 2);
    for (const [slot, value] of values.entries()) if (value !== undefined) this.#place(hashes[slot] ?? 0, value);
  }
}

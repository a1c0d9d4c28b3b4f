interface Remembered<Value> {
  readonly value: Value;
  readonly bytes: number;
}

interface Owned<Value> {
  readonly known: Map<string, Remembered<Value>>;
  bytes: number;
}

/** What an entry takes besides its value. */
const overhead = 256;
/** Of the room for all, one owner takes no more than this part. */
const share = 1 / 4;

/** Values of owners by their keys, as many as there is room for. What was used last is forgotten last. */
export class OwnedMemory<Value> {
  readonly #mostBytes: number;
  readonly #owners = new Map<string, Owned<Value>>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  find(owner: string, key: string): Value | undefined {
    const known = this.#owners.get(owner)?.known;
    const found = known?.get(key);
    if (known === undefined || found === undefined) return undefined;
    known.delete(key);
    known.set(key, found);
    return found.value;
  }

  remember(owner: string, key: string, value: Value): void {
    const bytes = overhead + Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(value));
    if (bytes > this.#mostBytes * share) return;
    const own = this.#owners.get(owner) ?? { known: new Map<string, Remembered<Value>>(), bytes: 0 };
    this.#owners.delete(owner);
    this.#owners.set(owner, own);
    this.#forget(own, key);
    own.known.set(key, { value, bytes });
    own.bytes += bytes;
    this.#bytes += bytes;
    while (own.bytes > this.#mostBytes * share) this.#forgetOldest(own);
    // The owner that came first goes first. The new value is in the last one.
    for (const [other, theirs] of this.#owners) {
      while (this.#bytes > this.#mostBytes && theirs.known.size > 0) this.#forgetOldest(theirs);
      if (theirs.known.size === 0) this.#owners.delete(other);
      if (this.#bytes <= this.#mostBytes) break;
    }
  }

  #forgetOldest(own: Owned<Value>): void {
    const [oldest] = own.known.keys();
    if (oldest !== undefined) this.#forget(own, oldest);
  }

  #forget(own: Owned<Value>, key: string): void {
    const bytes = own.known.get(key)?.bytes ?? 0;
    own.known.delete(key);
    own.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

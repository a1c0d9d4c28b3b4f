const parts = 256;

/**
 * A map for very many texts. A map of JavaScript that outgrows its room copies all entries at once: 25 ms for 262,144 of
 * them and 90 ms for 524,288, in which nobody is answered. Here many small maps share the entries. The seed keeps
 * strangers from choosing texts that all go to the same one.
 */
export class WideMap<Value> {
  readonly #seed: number;
  readonly #parts: readonly Map<string, Value>[] = Array.from({ length: parts }, () => new Map<string, Value>());

  constructor(seed: number) {
    this.#seed = seed;
  }

  get(key: string): Value | undefined {
    return this.#partOf(key)?.get(key);
  }

  set(key: string, value: Value): void {
    this.#partOf(key)?.set(key, value);
  }

  /** Sets the value unless there is one, which it returns. */
  setNew(key: string, value: Value): Value | undefined {
    const part = this.#partOf(key);
    const known = part?.get(key);
    if (known === undefined) part?.set(key, value);
    return known;
  }

  delete(key: string): void {
    this.#partOf(key)?.delete(key);
  }

  #partOf(key: string): Map<string, Value> | undefined {
    return this.#parts[hashOf(key, this.#seed) >>> 24];
  }
}

/** FNV-1a. Its upper bits depend on all characters. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

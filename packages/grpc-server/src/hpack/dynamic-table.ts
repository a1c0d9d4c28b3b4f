import type { Field } from './field.ts';
import { HpackError } from './hpack-error.ts';
import { staticTable } from './static-table.ts';

/** What an entry costs beside its octets (RFC 7541 §4.1). */
export const entryOverhead = 32;

export function sizeOf({ name, value }: Field): number {
  return name.length + value.length + entryOverhead;
}

/** The dynamic table of RFC 7541 §2.3.2, as a ring with the newest entry last. */
export class DynamicTable {
  /** Changes with every change of the table. */
  version = 0;
  readonly #bound: number;
  #entries: (Field | undefined)[] = [];
  #first = 0;
  #size = 0;
  #maximum: number;

  /** `bound` is what SETTINGS_HEADER_TABLE_SIZE allows the peer. */
  constructor(bound: number) {
    this.#bound = bound;
    this.#maximum = bound;
  }

  get length(): number {
    return this.#entries.length - this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** The entry with this index in the address space of RFC 7541 §2.3.3. */
  at(index: number): Field {
    const field =
      index <= staticTable.length
        ? staticTable[index - 1]
        : this.#entries[this.#entries.length - (index - staticTable.length)];
    if (field === undefined || index - staticTable.length > this.length) {
      throw new HpackError(`there is no header field with index ${index}`);
    }
    return field;
  }

  add(field: Field): void {
    this.version++;
    const size = sizeOf(field);
    this.#evict(this.#maximum - size);
    // An entry larger than the table empties it, and that is no error (RFC 7541 §4.4).
    if (size > this.#maximum) return;
    this.#entries.push(field);
    this.#size += size;
  }

  resize(maximum: number): void {
    if (maximum > this.#bound) {
      throw new HpackError(`a dynamic table of ${maximum} bytes is over the ${this.#bound} that were allowed`);
    }
    this.version++;
    this.#maximum = maximum;
    this.#evict(maximum);
  }

  #evict(room: number): void {
    while (this.#size > Math.max(room, 0)) {
      const oldest = this.#entries[this.#first];
      if (oldest === undefined) return;
      this.#size -= sizeOf(oldest);
      this.#entries[this.#first++] = undefined;
    }
    // Move the entries down only after as many evictions, so that one costs constant time.
    if (this.#first > 32 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}

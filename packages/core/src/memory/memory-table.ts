import type { Table } from '../journal/index.ts';

/** What a caller is about to do to rows. */
export type Touch = 'reads' | 'changes';

/** A transaction's view of a table whose key is one column. Nobody else sees its changes before they are kept. */
export class MemoryTable<Item> {
  readonly #table: Table<Item>;
  readonly #kept: Map<string, Item>;
  readonly #changed = new Map<string, Item | undefined>();
  readonly #check: (touch: Touch) => void;

  /** `check` throws if rows may not be read or changed now. */
  constructor(table: Table<Item>, kept: Map<string, Item>, check: (touch: Touch) => void) {
    this.#table = table;
    this.#kept = kept;
    this.#check = check;
  }

  get(key: string): Item | undefined {
    this.#check('reads');
    return this.#changed.has(key) ? this.#changed.get(key) : this.#kept.get(key);
  }

  where(fits: (item: Item) => boolean): Item[] {
    this.#check('reads');
    const unchanged = [...this.#kept].filter(([key]) => !this.#changed.has(key)).map(([, item]) => item);
    return [...unchanged, ...[...this.#changed.values()].filter((item) => item !== undefined)].filter(fits);
  }

  save(item: Item): void {
    this.#check('changes');
    this.#changed.set(this.#keyOf(item), item);
  }

  remove(key: string): void {
    this.#check('changes');
    this.#changed.set(key, undefined);
  }

  /** Returns how many there were. */
  removeWhere(fits: (item: Item) => boolean): number {
    const found = this.where(fits);
    for (const item of found) this.remove(this.#keyOf(item));
    return found.length;
  }

  keep(): void {
    for (const [key, item] of this.#changed) {
      if (item === undefined) this.#kept.delete(key);
      else this.#kept.set(key, item);
    }
  }

  #keyOf(item: Item): string {
    return Object.values(this.#table.key)
      .map((column) => column.of(item))
      .join();
  }
}

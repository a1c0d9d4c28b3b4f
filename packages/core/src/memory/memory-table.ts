/** What a caller is about to do to rows. */
export type Touch = 'reads' | 'changes';

/** A transaction's view of a table. Nobody else sees its changes before they are kept. */
export class MemoryTable<Row> {
  readonly #kept: Map<string, Row>;
  readonly #changed = new Map<string, Row | undefined>();
  readonly #check: (touch: Touch) => void;

  /** `check` throws if rows may not be read or changed now. */
  constructor(kept: Map<string, Row>, check: (touch: Touch) => void) {
    this.#kept = kept;
    this.#check = check;
  }

  get(key: string): Row | undefined {
    this.#check('reads');
    return this.#changed.has(key) ? this.#changed.get(key) : this.#kept.get(key);
  }

  where(fits: (row: Row) => boolean): Row[] {
    this.#check('reads');
    const unchanged = [...this.#kept].filter(([key]) => !this.#changed.has(key)).map(([, row]) => row);
    return [...unchanged, ...[...this.#changed.values()].filter((row) => row !== undefined)].filter(fits);
  }

  set(key: string, row: Row): void {
    this.#check('changes');
    this.#changed.set(key, row);
  }

  remove(key: string): void {
    this.#check('changes');
    this.#changed.set(key, undefined);
  }

  keep(): void {
    for (const [key, row] of this.#changed) {
      if (row === undefined) this.#kept.delete(key);
      else this.#kept.set(key, row);
    }
  }
}

import type { Applying, Undo } from './meaning.ts';
import { nothingToApply } from './meaning.ts';

/** After this many entries the mark moves on, even if no row has changed. */
const mostEntriesAfter = 10_000;

/** One step of a save: the rows to write, and the entry that the mark moves to. Null before the last step. */
export interface SaveStep<Row> {
  readonly rows: readonly Row[];
  readonly asOf: number | null;
}

/**
 * Which rows the store still lacks, of what changes with every decision. They are written later than their facts, aside
 * from decisions, a few at a time. A save writes all that had changed when it began. Its last step moves the mark: all rows
 * are true up to that entry, and a start applies the facts after it again.
 */
export class WriteBehind<Item> {
  /** What has changed since the present save began, in the order of the changes. */
  #changed = new Map<string, Item>();
  /** What the present save has yet to write, and the entry that it began at. */
  #saving: { readonly items: Map<string, Item>; readonly asOf: number } | undefined;
  #mark = 0;
  /** How many steps are written, and not durable yet. */
  #pending = 0;

  /** A start has found rows that are true up to this entry. */
  restore(mark: number): void {
    this.#mark = mark;
  }

  /** The store is complete up to this entry. */
  get mark(): number {
    return this.#mark;
  }

  get isSaving(): boolean {
    return this.#saving !== undefined;
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0 || this.isSaving;
  }

  /** A start needs only the facts after this entry. Facts since the last save that changed no row are not needed. */
  neededFrom(head: number): number {
    return this.#pending > 0 || this.hasChanged ? this.#mark : head;
  }

  /** Whether the mark is so far behind that a save must begin, although nothing may have changed. */
  isOverdue(head: number): boolean {
    return head >= this.#mark + mostEntriesAfter;
  }

  /** The row of this item is out of date. */
  changed(key: string, item: Item): void {
    this.#changed.set(key, item);
  }

  /** The row says what it should, or is gone as it should be. */
  unchanged(key: string): void {
    this.#changed.delete(key);
  }

  /** Begins a save of all that has changed so far. Later changes wait for the next one, so that each save ends. */
  begin(head: number): void {
    this.#saving = { items: this.#changed, asOf: head };
    this.#changed = new Map();
  }

  /** The next step of the present save, of up to `most` rows. An item without a row is left out. */
  next<Row>(most: number, rowOf: (item: Item) => Row | undefined): SaveStep<Row> {
    const { items, asOf } = this.#saving ?? { items: new Map<string, Item>(), asOf: this.#mark };
    const rows: Row[] = [];
    for (const [key, item] of items) {
      if (rows.length === most) break;
      const row = rowOf(item);
      if (row === undefined) items.delete(key);
      else rows.push(row);
    }
    return { rows, asOf: rows.length === items.size ? asOf : null };
  }

  /** These rows are written, here or elsewhere. If they are not after all, the next save writes them. */
  apply(written: readonly (readonly [key: string, item: Item])[], asOf: number | null, how: Applying): Undo {
    if (!how.isHere) {
      // Whatever is saved here begins anew, at an entry after that.
      if (this.isSaving) this.giveUp();
      if (asOf !== null) this.#mark = Math.max(this.#mark, asOf);
      return nothingToApply();
    }
    for (const [key] of written) {
      this.#changed.delete(key);
      this.#saving?.items.delete(key);
    }
    if (asOf !== null) this.#saving = undefined;
    this.#pending++;
    how.onDurable(() => {
      this.#pending--;
      if (asOf !== null) this.#mark = asOf;
    });
    return () => {
      this.#pending--;
      this.giveUp(written);
    };
  }

  /** Gives the present save up, with what it has written in vain. The next one writes all of it. */
  giveUp(written: Iterable<readonly [key: string, item: Item]> = []): void {
    this.#changed = new Map([...written, ...(this.#saving?.items ?? []), ...this.#changed]);
    this.#saving = undefined;
  }
}

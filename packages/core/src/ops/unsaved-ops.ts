import { ChunkedSet } from '../kernel/index.ts';
import type { MutableOp } from './mutable-op.ts';
import type { Op } from './op.ts';
import { unsavedSlot } from './mutable-op.ts';

/** Operations whose row is missing or out of date. */
export class UnsavedOps {
  /** Oldest first. */
  readonly #noted = new ChunkedSet(unsavedSlot);
  /** Their row could not be written. They go before all others. */
  readonly #overdue = new Set<Op>();
  #newest = Number.NEGATIVE_INFINITY;

  /** The operations, and since when. Longest first. */
  *all(): Iterable<readonly [Op, number]> {
    for (const op of this.#overdue) yield [op, Number.NEGATIVE_INFINITY];
    for (const op of this.#noted) yield [op, op.unsavedSince];
  }

  /** The operation stays noted, however often it changes, until its row is written or turns out not to be needed. */
  note(op: MutableOp, since: number): void {
    if (this.#overdue.has(op) || this.#noted.has(op)) return;
    // A change that is taken back may leave an operation as it was before others were noted.
    if (since < this.#newest) return this.noteOverdue(op);
    this.#newest = since;
    op.unsavedSince = since;
    this.#noted.add(op);
  }

  noteOverdue(op: Op): void {
    this.#overdue.add(op);
  }

  /** Returns whether the operation was noted. */
  delete(op: Op): boolean {
    const wasNoted = this.#noted.delete(op);
    return this.#overdue.delete(op) || wasNoted;
  }
}

import { isOver } from './lifecycle.ts';
import type { Op } from './op.ts';

/** The ends of operations, in their order, until they are forgotten. */
export class EndedOps {
  /** The sweep takes them from the front. An end may have been taken back since. */
  #ends: { readonly op: Op; readonly movedAt: number }[] = [];
  #swept = 0;
  /** Those that waited for people when another gateway ended them. */
  readonly #waited = new Set<Op>();
  readonly #holds: (op: Op) => boolean;

  /** `holds`: whether an operation is still known. */
  constructor(holds: (op: Op) => boolean) {
    this.#holds = holds;
  }

  note(op: Op): void {
    this.#ends.push({ op, movedAt: op.movedAt });
  }

  noteWaited(op: Op): void {
    this.#waited.add(op);
  }

  /** An operation is forgotten. Returns whether it was one of those that waited. */
  forgetWaited(op: Op): boolean {
    return this.#waited.delete(op);
  }

  /** Until they are forgotten: what seems to be done may be taken back. */
  *waited(isLeft: (op: Op) => boolean): Generator<Op> {
    for (const op of this.#waited) if (isLeft(op)) yield op;
  }

  /** After a restart: those that are over go in the order in which they ended. */
  sort(): void {
    this.#ends.sort((one, other) => one.movedAt - other.movedAt);
  }

  /** Those that ended at a time or before it, and whose end is durable. Whoever takes them forgets them. */
  *takeUntil(time: number): Generator<Op> {
    for (let end = this.#ends[this.#swept]; end !== undefined; end = this.#ends[this.#swept]) {
      const { op, movedAt } = end;
      const isLeft = isOver(op.state) && op.movedAt === movedAt && this.#holds(op);
      if (isLeft && (movedAt > time || !op.hasEnded)) return;
      this.#swept++;
      if (this.#swept > 1024 && this.#swept * 2 > this.#ends.length) {
        this.#ends = this.#ends.slice(this.#swept);
        this.#swept = 0;
      }
      if (isLeft) yield op;
    }
  }
}

import type { AgentId } from '../kernel/agent-id.ts';
import type { EarlierWindow, SavedBooks, Sums, WindowIds } from './books.ts';
import { book, copyOf, countedFrom, freshSums, isEmpty, later, moveBack, moveOn, oldestOf, sumsOf } from './books.ts';
import type { Micros, Total } from '../kernel/money.ts';
import type { Period } from './period.ts';
import { monthOf, periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody, tierKey, tiersOf } from './tier.ts';

type FoldedBooks = Sums & { readonly seq: number };

/** A day or month of a tier that is over, before it is known when it was and what its cap is. */
export interface ClosedWindow {
  readonly period: Period;
  readonly id: string;
  /** Zero where it counts for another one after all. */
  readonly spentMicros: Total;
}

/** What is to be written of one tier: what became of its books, and what it has closed. */
export interface BooksStep {
  readonly of: TierOf;
  /** Null where nothing is left to say. */
  readonly books: Omit<SavedBooks, 'seq'> | null;
  readonly closed: readonly ClosedWindow[];
}

/**
 * What the entries of the log, taken together, say was spent. It is what the store remembers and what a restart starts
 * from, and what the ledger can be held against. Every entry says to which day it was booked, so that the fold comes to
 * what the ledger came to, whatever clocks and time zones did.
 */
export class BooksFold {
  readonly #books = new Map<string, FoldedBooks>();
  /** Those to be written, in the order in which they have changed. */
  readonly #changed = new Map<string, TierOf>();
  readonly #closed = new Map<string, ReadonlyMap<string, ClosedWindow>>();
  #day = '';

  put(books: SavedBooks): void {
    this.#books.set(tierKey(books.of), { ...sumsOf(books), seq: books.seq });
  }

  all(): SavedBooks[] {
    return [...this.#books.values()].map(({ seq, ...books }) => ({ ...savedOf(books), seq }));
  }

  /** What counts for a day and month in one tier. */
  counted(of: TierOf, ids: WindowIds): Readonly<Record<Period, Total>> {
    const books = this.#books.get(tierKey(of));
    if (books === undefined) return { day: 0, month: 0 };
    const oldest = this.#oldest();
    const spent = (period: Period) => countedFrom(books, period, later(ids[period], oldest[period])).spent;
    // What is not of this day any more, or of this month, is over.
    return {
      day: books.window.day < ids.day ? 0 : spent('day'),
      month: books.window.month < ids.month ? 0 : spent('month'),
    };
  }

  /** An action was settled on that day, as entry `seq` says: books that are true as of a later one have it already. */
  settle(agent: AgentId, actual: Micros, day: string, seq = Number.POSITIVE_INFINITY): void {
    if (actual === 0) return;
    for (const of of tiersOf(agent)) {
      const books = this.#on(of, day, seq);
      if (books !== undefined) for (const period of periods) book(books, period, actual);
    }
  }

  /** Somebody has corrected what a tier has spent. */
  correct(of: TierOf, period: Period, amount: Total, day: string, seq = Number.POSITIVE_INFINITY): void {
    const books = this.#on(of, day, seq);
    if (books !== undefined) book(books, period, amount);
  }

  /** Somebody was told that a share of a cap is used up. */
  notice(of: TierOf, period: Period, percent: number, day: string, seq = Number.POSITIVE_INFINITY): void {
    const books = this.#on(of, day, seq);
    if (books !== undefined) books.noticed[period] = Math.max(books.noticed[period], percent);
  }

  /** The clock had been ahead: what was booked later than to this day counts for it. */
  goBack(day: string, seq = Number.POSITIVE_INFINITY): void {
    const oldest = this.#oldest();
    for (const books of this.#books.values()) if (books.seq < seq) this.#back(books, day, oldest);
    this.#day = day;
  }

  /** Whether anything has changed since it was last taken. */
  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Closes whatever is not of this day and its month. */
  closeBefore(day: string): void {
    if (day === this.#day) return;
    this.#day = day;
    const oldest = this.#oldest();
    for (const [key, books] of this.#books) {
      this.#roll(books, day);
      if (isEmpty(books, oldest)) this.#changed.set(key, books.of);
    }
  }

  /** Up to `most` of what has changed since it was last taken. */
  take(most: number): BooksStep[] {
    const steps: BooksStep[] = [];
    const oldest = this.#oldest();
    for (const [key, of] of this.#changed) {
      if (steps.length === most) break;
      const books = this.#books.get(key);
      const isOver = books === undefined || isEmpty(books, oldest);
      if (isOver) this.#books.delete(key);
      const closed = [...(this.#closed.get(key)?.values() ?? [])];
      steps.push({ of, books: isOver ? null : savedOf(books), closed });
      this.#changed.delete(key);
      this.#closed.delete(key);
    }
    return steps;
  }

  /** Takes back that steps were taken: they are to be written again. */
  giveBack(steps: readonly BooksStep[]): void {
    for (const { of, closed } of steps) {
      const key = tierKey(of);
      const since = this.#closed.get(key)?.values() ?? [];
      this.#changed.set(key, of);
      this.#closed.delete(key);
      for (const window of [...closed, ...since]) this.#close(key, window);
    }
  }

  #oldest(): WindowIds {
    return oldestOf(this.#books.get(tierKey(everybody)));
  }

  /** The books of a tier on a day; undefined where they have the entry already. */
  #on(of: TierOf, day: string, seq: number): Sums | undefined {
    const key = tierKey(of);
    const books = this.#books.get(key) ?? { ...freshSums(of, { day, month: monthOf(day) }), seq: 0 };
    if (books.seq >= seq) return undefined;
    this.#books.set(key, books);
    this.#changed.set(key, of);
    // Entries from before it was recorded that the clock was set back simply name an earlier day.
    if (day < books.window.day) this.#back(books, day, this.#oldest());
    else this.#roll(books, day);
    return books;
  }

  #roll(books: Sums, day: string): void {
    const key = tierKey(books.of);
    moveOn(books, { day, month: monthOf(day) }, (period, { id, spent }: EarlierWindow) => {
      this.#changed.set(key, books.of);
      if (spent !== 0) this.#close(key, { period, id, spentMicros: spent });
    });
  }

  #back(books: Sums, day: string, oldest: WindowIds): void {
    if (books.window.day <= day) return;
    const key = tierKey(books.of);
    this.#changed.set(key, books.of);
    moveBack(books, { day, month: monthOf(day) }, oldest, (period, id) => {
      this.#close(key, { period, id, spentMicros: 0 });
    });
  }

  /** What is known last of a day or month is what is written. */
  #close(key: string, closed: ClosedWindow): void {
    const known = this.#closed.get(key) ?? new Map<string, ClosedWindow>();
    this.#closed.set(key, new Map([...known, [`${closed.period} ${closed.id}`, closed]]));
  }
}

function savedOf(books: Sums): Omit<SavedBooks, 'seq'> {
  const { earlier, ...saved } = copyOf(books);
  const { of, spent, window, noticed } = saved;
  const plain = { of, spent, window, noticed };
  return earlier.day.length + earlier.month.length === 0 ? plain : { ...plain, earlier };
}

import type { AgentId } from '../tenancy/agent-id.ts';
import type { SavedBooks } from './books.ts';
import type { Micros, Total } from './money.ts';
import { plus } from './money.ts';
import type { Period } from './period.ts';
import { monthOf, periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

type Mutable = { -readonly [Member in keyof SavedBooks]: SavedBooks[Member] };

/** A day or month of a tier that is over, before it is known when it was and what its cap is. */
export interface ClosedWindow {
  readonly period: Period;
  readonly id: string;
  readonly spentMicros: Total;
}

/** What is to be written of one tier: what became of its books, and what it has closed. */
export interface BooksStep {
  readonly of: TierOf;
  /** Null where nothing is left to say of the present month. */
  readonly books: Omit<SavedBooks, 'seq'> | null;
  readonly closed: readonly ClosedWindow[];
}

const nothing = { day: 0, month: 0 };

/**
 * What the entries of the log, taken together, say was spent. It is what the store remembers and what a restart starts
 * from, and what the ledger can be held against. Every entry says to which day it was booked, so that the fold comes to
 * what the ledger came to, whatever clocks and time zones did.
 */
export class BooksFold {
  readonly #books = new Map<string, Mutable>();
  /** Those to be written, in the order in which they have changed. */
  readonly #changed = new Map<string, TierOf>();
  readonly #closed = new Map<string, ClosedWindow[]>();
  #day = '';

  put(books: SavedBooks): void {
    this.#books.set(tierKey(books.of), { ...books });
  }

  all(): readonly SavedBooks[] {
    return [...this.#books.values()];
  }

  /** An action was settled on that day, as entry `seq` says: books that are true as of a later one have it already. */
  settle(agent: AgentId, actual: Micros, day: string, seq = Number.POSITIVE_INFINITY): void {
    if (actual === 0) return;
    for (const of of tiersOf(agent)) {
      const books = this.#on(of, day, seq);
      if (books === undefined) continue;
      for (const period of periods) books.spent = { ...books.spent, [period]: plus(books.spent[period], actual) };
    }
  }

  /** Somebody was told that a share of a cap is used up. */
  notice(of: TierOf, period: Period, percent: number, day: string, seq = Number.POSITIVE_INFINITY): void {
    const books = this.#on(of, day, seq);
    if (books === undefined) return;
    books.noticed = { ...books.noticed, [period]: Math.max(books.noticed[period], percent) };
  }

  /** Whether anything has changed since it was last taken. */
  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Closes whatever is not of this day and its month. */
  closeBefore(day: string): void {
    if (day === this.#day) return;
    this.#day = day;
    for (const books of this.#books.values()) this.#roll(books, day);
  }

  /** Up to `most` of what has changed since it was last taken. */
  take(most: number): BooksStep[] {
    const steps: BooksStep[] = [];
    for (const [key, of] of this.#changed) {
      if (steps.length === most) break;
      const books = this.#books.get(key);
      const isEmpty = books === undefined || (books.spent.month === 0 && books.noticed.month + books.noticed.day === 0);
      if (isEmpty) this.#books.delete(key);
      steps.push({ of, books: isEmpty ? null : { ...books }, closed: this.#closed.get(key) ?? [] });
      this.#changed.delete(key);
      this.#closed.delete(key);
    }
    return steps;
  }

  /** Takes back that steps were taken: they are to be written again. */
  giveBack(steps: readonly BooksStep[]): void {
    for (const { of, closed } of steps) {
      const key = tierKey(of);
      this.#changed.set(key, of);
      if (closed.length > 0) this.#closed.set(key, [...closed, ...(this.#closed.get(key) ?? [])]);
    }
  }

  /** The books of a tier on a day; undefined where they have the entry already. */
  #on(of: TierOf, day: string, seq: number): Mutable | undefined {
    const key = tierKey(of);
    const books = this.#books.get(key) ?? {
      of,
      spent: nothing,
      noticed: nothing,
      window: { day, month: monthOf(day) },
      seq: 0,
    };
    if (books.seq >= seq) return undefined;
    this.#books.set(key, books);
    this.#changed.set(key, of);
    this.#roll(books, day);
    return books;
  }

  #roll(books: Mutable, day: string): void {
    const window = { day, month: monthOf(day) };
    const key = tierKey(books.of);
    for (const period of periods) {
      const id = books.window[period];
      if (id === window[period]) continue;
      this.#changed.set(key, books.of);
      const spentMicros = books.spent[period];
      if (spentMicros > 0) this.#closed.set(key, [...(this.#closed.get(key) ?? []), { period, id, spentMicros }]);
      books.spent = { ...books.spent, [period]: 0 };
      books.noticed = { ...books.noticed, [period]: 0 };
    }
    books.window = window;
  }
}

import type { EpochMs } from '../kernel/clock.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import type { SavedBooks } from './books.ts';
import type { Micros } from './money.ts';
import type { Calendar, Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

type Mutable = { -readonly [Member in keyof SavedBooks]: SavedBooks[Member] };

/**
 * What the entries of the log, taken together, say was spent. It is what the store remembers and what a restart starts
 * from, and what the ledger can be held against.
 */
export class BooksFold {
  readonly #books = new Map<string, Mutable>();
  /** The calendar that is in force when something is booked. */
  calendar: () => Calendar;
  #windows: Readonly<Record<Period, Window>> | undefined;
  #timeZone = '';
  readonly #changed = new Set<string>();

  /** By the calendar that is in force when something is booked. */
  constructor(calendar: () => Calendar) {
    this.calendar = calendar;
  }

  put(books: SavedBooks): void {
    this.#books.set(tierKey(books.of), { ...books });
  }

  all(): SavedBooks[] {
    return [...this.#books.values()];
  }

  /** An action was settled at that time. */
  settle(agent: AgentId, actual: Micros, at: EpochMs): void {
    if (actual === 0) return;
    for (const of of tiersOf(agent)) {
      const books = this.#of(of, at);
      for (const period of periods) books.spent = { ...books.spent, [period]: books.spent[period] + actual };
    }
  }

  /** Somebody was told that a share of a cap is used up. */
  notice(of: TierOf, period: Period, percent: number, at: EpochMs): void {
    const books = this.#of(of, at);
    books.noticed = { ...books.noticed, [period]: Math.max(books.noticed[period], percent) };
  }

  /** Whether anything has changed since then. */
  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** What has changed since last asked. */
  takeChanged(): SavedBooks[] {
    const changed = [...this.#changed].map((key) => this.#books.get(key)).filter((books) => books !== undefined);
    this.#changed.clear();
    return changed;
  }

  /** To be saved again. */
  touch(of: TierOf): void {
    this.#changed.add(tierKey(of));
  }

  /** Books of a month that is over say nothing any more; they are dropped and named. */
  takeOver(now: EpochMs): TierOf[] {
    const { month } = this.#windowsAt(now);
    const over = this.all().filter(({ window }) => window.month < month.id);
    for (const { of } of over) {
      this.#books.delete(tierKey(of));
      this.#changed.delete(tierKey(of));
    }
    return over.map(({ of }) => of);
  }

  #of(of: TierOf, at: EpochMs): Mutable {
    const key = tierKey(of);
    const windows = this.#windowsAt(at);
    const window = { day: windows.day.id, month: windows.month.id };
    const books = this.#books.get(key) ?? { of, spent: nothing, noticed: nothing, window };
    for (const period of periods) {
      if (books.window[period] >= window[period]) continue;
      books.window = { ...books.window, [period]: window[period] };
      books.spent = { ...books.spent, [period]: 0 };
      books.noticed = { ...books.noticed, [period]: 0 };
    }
    this.#books.set(key, books);
    this.#changed.add(key);
    return books;
  }

  /** As in the ledger, periods only move on. */
  #windowsAt(at: EpochMs): Readonly<Record<Period, Window>> {
    const calendar = this.calendar();
    if (this.#windows === undefined || this.#timeZone !== calendar.timeZone || at >= this.#windows.day.end) {
      this.#timeZone = calendar.timeZone;
      this.#windows = { day: calendar.window('day', at), month: calendar.window('month', at) };
    }
    return this.#windows;
  }
}

const nothing = { day: 0, month: 0 };

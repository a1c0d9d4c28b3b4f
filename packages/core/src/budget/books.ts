import type { EpochMs } from '../kernel/clock.ts';
import type { Micros, Total } from './money.ts';
import type { Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';

/** What one tier has spent and holds back. */
export interface Books {
  readonly of: TierOf;
  /** Held back for actions that are not over. */
  reserved: Total;
  /** Settled within the day and the month. */
  spent: Record<Period, Total>;
  /** Which day and which month that is. */
  window: Record<Period, string>;
  /** The highest share of its cap, in percent, that was told about in this period. */
  noticed: Record<Period, number>;
}

/** Books as a store remembers them. What is reserved follows from the operations in flight. */
export interface SavedBooks extends Omit<Books, 'reserved'> {
  /** The entry that they are true as of; 0: the one that all of them together are true as of. */
  readonly seq: number;
}

/** What a tier has spent in a day or month that is over. */
export interface ClosedBooks {
  readonly of: TierOf;
  readonly period: Period;
  /** `2026-11-15` or `2026-11`. */
  readonly id: string;
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly spentMicros: Total;
  /** The cap that was in force when it closed; null where there was none. */
  readonly limitMicros: Micros | null;
}

/** Reads what was spent in days and months that are over. */
export interface ClosedBooksReader {
  /** The newest `count` of one tier, the newest last. */
  closedBooks(of: TierOf, period: Period, count: number): Promise<readonly ClosedBooks[]>;
}

/** How many days, and how many months, that are over are kept. */
export const closedKept: Readonly<Record<Period, number>> = { day: 400, month: 60 };

type Windows = Readonly<Record<Period, Window>>;

export function freshBooks(of: TierOf, windows: Windows): Books {
  return {
    of,
    reserved: 0,
    spent: { day: 0, month: 0 },
    window: { day: windows.day.id, month: windows.month.id },
    noticed: { day: 0, month: 0 },
  };
}

export function booksOf({ of, spent, window, noticed }: SavedBooks): Books {
  return { of, reserved: 0, spent: { ...spent }, window: { ...window }, noticed: { ...noticed } };
}

/** The same books; a period that is over starts anew. */
export function rolledOver(books: Books, windows: Windows): Books {
  for (const period of periods) {
    if (books.window[period] === windows[period].id) continue;
    books.window[period] = windows[period].id;
    books.spent[period] = 0;
    books.noticed[period] = 0;
  }
  return books;
}

import type { BooksMark, Change, ClosedBooks, SavedBooks } from '@reeve/core';
import { tierKey } from '@reeve/core';
import type { Row } from './sqlite-rows.ts';
import { text } from './sqlite-rows.ts';

type BooksSaved = Extract<Change, { kind: 'books_saved' }>;

/** The name of the row that says up to which entry the others are true. */
const markName = '';

/** The rows to write, as name and record. */
export function booksValues({ saved, asOf }: BooksSaved): [string, string][] {
  const rows = saved.map((books): [string, string] => [tierKey(books.of), JSON.stringify(books)]);
  return [...rows, [markName, JSON.stringify(asOf)]];
}

/** The names of the rows to remove. */
export function booksOver({ over }: BooksSaved): string[] {
  return over.map(tierKey);
}

/** The rows of days and months that are over. */
export function closedValues({ closed }: BooksSaved): [string, string, string, string][] {
  return closed.map((books) => [tierKey(books.of), books.period, books.id, JSON.stringify(books)]);
}

/** Through which of them all are given up. */
export function closedGivenUp({ closedBefore }: BooksSaved): ['day' | 'month', string][] {
  return closedBefore === null
    ? []
    : [
        ['day', closedBefore.day],
        ['month', closedBefore.month],
      ];
}

export function closedOf(row: Row): ClosedBooks {
  return JSON.parse(text(row, 'record')) as ClosedBooks;
}

export const closedSql = {
  newest: 'SELECT record FROM closed_books WHERE name = ? AND period = ? ORDER BY id DESC LIMIT ?',
  newestOfSeat: 'SELECT record FROM closed_books WHERE seat = ? AND name = ? AND period = ? ORDER BY id DESC LIMIT ?',
  giveUp: 'DELETE FROM closed_books WHERE period = ? AND id < ?',
} as const;

export function booksOf(rows: readonly Row[]): { books: SavedBooks[]; booksMark: BooksMark | null } {
  const mark = rows.find((row) => text(row, 'name') === markName);
  return {
    // Rows from before each said as of which entry it is true are all as the mark says.
    books: rows
      .filter((row) => row !== mark)
      .map((row) => ({ seq: 0, ...(JSON.parse(text(row, 'record')) as Omit<SavedBooks, 'seq'>) })),
    booksMark: mark === undefined ? null : (JSON.parse(text(mark, 'record')) as BooksMark),
  };
}

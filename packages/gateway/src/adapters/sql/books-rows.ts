import type { BooksMark, Change, SavedBooks } from '@reeve/core';
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

export function booksOf(rows: readonly Row[]): { books: SavedBooks[]; booksMark: BooksMark | null } {
  const mark = rows.find((row) => text(row, 'name') === markName);
  return {
    books: rows.filter((row) => row !== mark).map((row) => JSON.parse(text(row, 'record')) as SavedBooks),
    booksMark: mark === undefined ? null : (JSON.parse(text(mark, 'record')) as BooksMark),
  };
}

import type { Table } from '../journal/index.ts';
import { integer, numberIn, text, textIn } from '../journal/index.ts';
import type { OwedEntry } from './account-store.ts';

/** The only accounts table that a commit of the log touches. The account store owns the others. */
export const owedEntriesTable: Table<OwedEntry, 'id'> = {
  name: 'owed_entries',
  key: { id: text(({ id }) => id) },
  columns: { at: integer(({ at }) => at), draft: text(({ draft }) => draft) },
  itemOf: (row) => ({ id: textIn(row, 'id'), at: numberIn(row, 'at'), draft: textIn(row, 'draft') }),
};

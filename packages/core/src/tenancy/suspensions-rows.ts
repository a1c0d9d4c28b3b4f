import type { RowsOf, Table } from '../journal/index.ts';
import { put, remove, text, textIn } from '../journal/index.ts';
import type { ScopeSuspension } from './scope-suspensions.ts';
import type { SuspensionChange } from './suspensions-slice.ts';

export const suspensionsTable: Table<ScopeSuspension, 'id'> = {
  name: 'scope_suspensions',
  key: { id: text(({ id }) => id) },
  columns: {
    // Beside the record: if that cannot be read, it is still known whom it holds.
    place: text(({ orgId, teamId }) => JSON.stringify(['suspension', orgId, teamId])),
    record: text((suspension) => JSON.stringify(suspension)),
  },
  itemOf: (row) => JSON.parse(textIn(row, 'record')) as ScopeSuspension,
};

export const suspensionRows: RowsOf<SuspensionChange> = {
  suspension_saved: ({ suspension }) => [put(suspensionsTable, suspension)],
  suspension_removed: ({ suspension: { id } }) => [remove(suspensionsTable, { id })],
};

import type { Table } from '../journal/index.ts';
import { text, textIn } from '../journal/index.ts';
import type { ScopeSuspension } from './scope-suspensions.ts';

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

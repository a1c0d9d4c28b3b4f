import type { AgentColumn, RowsOf, Table } from '../journal/index.ts';
import {
  agentColumns,
  agentIdOf,
  fixed,
  flag,
  integer,
  numberIn,
  prune,
  put,
  remove,
  text,
  textIn,
} from '../journal/index.ts';
import { opsTable } from '../ops/index.ts';
import type { Receipt } from '../ops/index.ts';
import type { BulkControl } from './bulk-control.ts';
import type { ControlSequence, ControlChange } from './control-slice.ts';
import type { Departure } from './departures.ts';
import { placeOfDeparture } from './departures.ts';
import type { RunControl } from './run-controls.ts';
import { placeOf } from './run-controls.ts';

/** `record` holds the whole item. The other columns serve queries. */
export const receiptsTable: Table<Receipt, 'id'> = {
  name: 'control_receipts',
  key: { id: text(({ id }) => id) },
  columns: {
    bulk_id: fixed(text((receipt) => receipt.bulkId)),
    ...agentColumns(({ agent }) => agent),
    sequence: fixed(integer((receipt) => receipt.sequence)),
    op_id: fixed(text((receipt) => receipt.opId)),
    requested_at: fixed(integer((receipt) => receipt.requestedAt)),
    status: text((receipt) => receipt.status),
    is_open: flag(({ waiting, blocks }) => waiting || blocks),
    record: text((receipt) => JSON.stringify(receipt)),
  },
  itemOf: (row) => {
    // A receipt of an older version has no width. It counts as the operator's, so that nobody else lifts it.
    const older = { width: 'unbound', owed: false } as const;
    return { ...older, ...(JSON.parse(textIn(row, 'record')) as Omit<Receipt, 'width' | 'owed'>) };
  },
};

export const bulksTable: Table<BulkControl, 'id'> = {
  name: 'control_bulks',
  key: { id: text(({ id }) => id) },
  columns: {
    requested_at: fixed(integer((bulk) => bulk.requestedAt)),
    is_remembered: flag(({ done, idempotency }) => done && idempotency !== null),
    record: text((bulk) => JSON.stringify(bulk)),
  },
  itemOf: (row) => JSON.parse(textIn(row, 'record')) as BulkControl,
};

export const sequencesTable: Table<ControlSequence, AgentColumn> = {
  name: 'control_sequences',
  key: agentColumns(({ agent }) => agent),
  columns: { sequence: integer(({ sequence }) => sequence) },
  itemOf: (row) => ({ agent: agentIdOf(row), sequence: numberIn(row, 'sequence') }),
};

export const runControlsTable: Table<RunControl, 'place'> = {
  name: 'run_controls',
  key: { place: text(placeOf) },
  columns: { record: text((control) => JSON.stringify(control)) },
  itemOf: (row) => JSON.parse(textIn(row, 'record')) as RunControl,
};

export const departuresTable: Table<Departure, 'place'> = {
  name: 'departures',
  key: { place: text(placeOfDeparture) },
  columns: { record: text((departure) => JSON.stringify(departure)) },
  itemOf: (row) => JSON.parse(textIn(row, 'record')) as Departure,
};

const byAge = ['requested_at', 'id'];

export const controlRows: RowsOf<ControlChange> = {
  receipt_saved: ({ receipt }) => [put(receiptsTable, receipt)],
  bulk_control_saved: ({ bulk }) => [put(bulksTable, bulk)],
  control_sequence_saved: ({ sequence }) => [put(sequencesTable, sequence)],
  run_control_saved: ({ control }) => [put(runControlsTable, control)],
  // Whoever writes this has seen the control hold, and a commit stands on all before it.
  run_control_used: ({ control }) => [put(runControlsTable, control)],
  run_control_removed: ({ control }) => [remove(runControlsTable, { place: placeOf(control) })],
  departure_saved: ({ departure }) => [put(departuresTable, departure)],
  departure_removed: ({ departure }) => [remove(departuresTable, { place: placeOfDeparture(departure) })],
  receipts_removed: ({ before, most }) => [
    prune(
      receiptsTable,
      [
        { column: 'requested_at', is: '<', value: before },
        { column: 'is_open', is: 'off' },
      ],
      { order: byAge, most, unlessIn: opsTable },
    ),
    prune(bulksTable, [{ column: 'requested_at', is: '<', value: before }], { order: byAge, most }),
  ],
};

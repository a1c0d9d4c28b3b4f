import type { AgentColumn, Table } from '../journal/index.ts';
import { agentColumns, agentIdOf, fixed, flag, integer, numberIn, text, textIn } from '../journal/index.ts';
import type { Receipt } from '../ops/index.ts';
import { offFloor } from '../ops/index.ts';
import type { BulkControl } from './bulk-control.ts';
import type { ControlSequence } from './control-slice.ts';
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
    const older = { width: 'unbound', owed: false, ...offFloor } as const;
    return { ...older, ...(JSON.parse(textIn(row, 'record')) as Omit<Receipt, keyof typeof older>) };
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

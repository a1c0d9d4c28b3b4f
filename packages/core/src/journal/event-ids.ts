import type { RowsOf } from './rows.ts';
import { marksTable, put } from './rows.ts';

/** Ids of events up to this one may have been given out: the next run starts after it. */
export interface EventIdsChange {
  readonly kind: 'event_ids_reserved';
  readonly through: number;
}

/** What a start brings back of events. */
export interface EventIdsSnapshot {
  /** Up to where ids of events may have been given out. */
  readonly eventIdsReserved: number;
}

/** The name of the mark up to which ids may have been given out. */
export const idsReserved = 'event_ids_reserved';

export const eventIdRows: RowsOf<EventIdsChange> = {
  event_ids_reserved: ({ through }) => [put(marksTable, { name: idsReserved, value: through })],
};

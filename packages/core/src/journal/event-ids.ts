import type { RowsOf } from './rows.ts';
import { marksTable, put } from './rows.ts';

/** Event ids up to this one may be in use. The next run starts after it. */
export interface EventIdsChange {
  readonly kind: 'event_ids_reserved';
  readonly through: number;
}

/** What a start restores for events. */
export interface EventIdsSnapshot {
  /** Event ids up to this one may be in use. */
  readonly eventIdsReserved: number;
}

/** The mark up to which ids may be in use. */
export const idsReserved = 'event_ids_reserved';

export const eventIdRows: RowsOf<EventIdsChange> = {
  event_ids_reserved: ({ through }) => [put(marksTable, { name: idsReserved, value: through })],
};

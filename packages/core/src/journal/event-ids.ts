import type { Meanings } from './meaning.ts';
import { storedOnly } from './meaning.ts';
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

/** The log of events counts its ids by itself, and waits for the reservation. */
export const eventIdFacts: Meanings<unknown, EventIdsChange> = {
  event_ids_reserved: {
    ...storedOnly,
    rows: ({ through }) => [put(marksTable, { name: idsReserved, value: through })],
  },
};

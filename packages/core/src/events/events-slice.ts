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

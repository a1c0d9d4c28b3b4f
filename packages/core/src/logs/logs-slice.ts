/** Retention: entries up to this one are given up. */
export interface LogsChange {
  readonly kind: 'entries_removed';
  readonly through: number;
}

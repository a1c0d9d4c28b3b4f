/** An entry that a change of accounts owed to the log stands in it now. */
export interface AccountsChange {
  readonly kind: 'owed_entry_recorded';
  readonly id: string;
}

import type { Controls } from './controls.ts';
import type { Receipt } from '../ops/receipt.ts';

/** Puts a receipt in the place of what it was, in memory and in this turn. */
export function saveReceipt(gov: Controls, before: Receipt, after: Receipt): void {
  gov.control.place(after);
  gov.journal.onFailure(() => gov.control.place(before));
  gov.journal.write({ kind: 'receipt_saved', receipt: after });
  if (after.status !== before.status) gov.control.onStep(after, before);
}

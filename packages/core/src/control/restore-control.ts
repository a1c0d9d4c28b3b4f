import type { ControlSnapshot } from './control-slice.ts';
import type { Controls } from './controls.ts';

/**
 * Brings controls back: the numbers of messages, what waits for an acknowledgement, what blocks, and what was asked for
 * lately. The time to acknowledge starts anew, as nobody could have done so while the gateway was gone.
 */
export function restoreControl(gov: Controls, snapshot: ControlSnapshot): void {
  for (const sequence of snapshot.controlSequences) gov.control.restoreSequence(sequence);
  const receipts = snapshot.receipts.toSorted((a, b) => a.sequence - b.sequence);
  for (const receipt of receipts) gov.control.place(receipt);
  const bulks = snapshot.bulkControls.toSorted((a, b) => a.requestedAt - b.requestedAt);
  for (const bulk of bulks) gov.control.remembered.restore(bulk);
}

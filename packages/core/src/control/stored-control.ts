import type { ControlChange, ControlSnapshot } from './control-slice.ts';

/**
 * The facts that saved what a start loads: the sequence numbers, the receipts that wait or block, the recent requests, and
 * what holds. The time to acknowledge starts anew, because nobody could acknowledge while the gateway was down.
 */
export function* storedControl(snapshot: ControlSnapshot): Generator<ControlChange> {
  for (const sequence of snapshot.controlSequences) yield { kind: 'control_sequence_saved', sequence };
  const receipts = snapshot.receipts.toSorted((a, b) => a.sequence - b.sequence);
  for (const receipt of receipts) yield { kind: 'receipt_saved', receipt };
  const bulks = snapshot.bulkControls.toSorted((a, b) => a.requestedAt - b.requestedAt);
  for (const bulk of bulks) yield { kind: 'bulk_control_saved', bulk };
  for (const control of snapshot.runControls) yield { kind: 'run_control_saved', control };
  for (const departure of snapshot.departures) yield { kind: 'departure_saved', departure };
}

import type { Meanings } from '../journal/index.ts';
import { nothingToApply, prune, put, remove, touchesNobody, touchesOrg } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { opsTable } from '../ops/index.ts';
import { applyReceipt, showAgain } from './apply-receipt.ts';
import { bulksTable, departuresTable, receiptsTable, runControlsTable, sequencesTable } from './control-rows.ts';
import type { ControlChange, ControlSnapshot } from './control-slice.ts';
import type { ControlState } from './controls.ts';
import { placeOfDeparture } from './departures.ts';
import { placeOf } from './run-controls.ts';
import { bulkName, departuresName, runControlsName } from './watched-controls.ts';

const byAge = ['requested_at', 'id'];

export const controlFacts: Meanings<ControlState, ControlChange> = {
  receipt_saved: {
    apply: (gov, { receipt }, how) => applyReceipt(gov, receipt, how),
    touch: ({ receipt }) => ({ agent: agentKey(receipt.agent) }),
    rows: ({ receipt }) => [put(receiptsTable, receipt)],
    // The row holds all of it but which operation shows it.
    redo: { ops: (gov, { receipt }, how) => showAgain(gov, receipt, how) },
  },
  control_sequence_saved: {
    apply: ({ control }, { sequence }) => control.countTo(sequence),
    touch: ({ sequence }) => ({ agent: agentKey(sequence.agent) }),
    rows: ({ sequence }) => [put(sequencesTable, sequence)],
  },
  bulk_control_saved: {
    apply: ({ control: { remembered } }, { bulk }, how) => remembered.put(bulk, how),
    touch: ({ bulk }) => touchesOrg(bulk.orgId),
    alters: ({ bulk }) => (bulk.idempotency === null ? [] : [bulkName(bulk.idempotency.key)]),
    rows: ({ bulk }) => [put(bulksTable, bulk)],
  },
  run_control_saved: {
    apply: ({ control: { runs } }, { control }) => runs.put(control),
    touch: ({ control }) => touchesOrg(control.orgId),
    alters: () => [runControlsName],
    rows: ({ control }) => [put(runControlsTable, control)],
  },
  run_control_used: {
    apply: ({ control: { runs } }, { control }) => {
      const known = runs.find(placeOf(control), control.imposedBy);
      return known?.controlId === control.controlId ? runs.put(control) : nothingToApply();
    },
    touch: touchesNobody,
    // Whoever writes this has seen the control hold, and a commit stands on all before it.
    rows: ({ control }) => [put(runControlsTable, control)],
  },
  run_control_removed: {
    apply: ({ control: { runs } }, { control }) => runs.remove(control),
    touch: ({ control }) => touchesOrg(control.orgId),
    alters: () => [runControlsName],
    rows: ({ control }) => [remove(runControlsTable, { place: placeOf(control) })],
  },
  departure_saved: {
    apply: ({ control: { departures } }, { departure }) => departures.put(departure),
    touch: ({ departure }) => touchesOrg(departure.orgId),
    alters: () => [departuresName],
    rows: ({ departure }) => [put(departuresTable, departure)],
  },
  departure_removed: {
    apply: ({ control: { departures } }, { departure }) => departures.remove(departure),
    touch: ({ departure }) => touchesOrg(departure.orgId),
    alters: () => [departuresName],
    rows: ({ departure }) => [remove(departuresTable, { place: placeOfDeparture(departure) })],
  },
  receipts_removed: {
    apply: nothingToApply,
    touch: touchesNobody,
    rows: ({ before, most }) => [
      prune(
        receiptsTable,
        [
          { column: 'requested_at', is: '<', value: before },
          { column: 'is_open', is: 'off' },
        ],
        { order: byAge, most, unlessIn: opsTable },
      ),
      prune(bulksTable, [{ column: 'requested_at', is: '<', value: before }], { order: byAge, most }),
    ],
  },
};

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

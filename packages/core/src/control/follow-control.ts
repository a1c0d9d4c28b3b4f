import type { Controls } from './controls.ts';
import type { ControlChange, ControlSequence } from './control-slice.ts';
import { sendAll } from './messages.ts';
import type { RunControl } from './run-controls.ts';
import { placeOf } from './run-controls.ts';
import type { Receipt } from '../ops/index.ts';
import { agentKey } from '../kernel/index.ts';

/** Follows a control of another gateway. An agent that listens here gets the message here. */
export function followControl(gov: Controls, change: ControlChange): void {
  switch (change.kind) {
    case 'receipt_saved':
      followReceipt(gov, change.receipt);
      break;
    case 'control_sequence_saved':
      followSequence(gov, change.sequence);
      break;
    case 'bulk_control_saved':
      gov.control.remembered.restore(change.bulk);
      break;
    case 'run_control_saved':
      gov.control.runs.put(change.control);
      break;
    case 'run_control_used':
      followRunUse(gov, change.control);
      break;
    case 'run_control_removed':
      gov.control.runs.remove(change.control);
      break;
    case 'departure_saved':
      gov.control.departures.put(change.departure);
      break;
    case 'departure_removed':
      gov.control.departures.remove(change.departure);
      break;
    case 'receipts_removed':
      break;
  }
}

function followReceipt(gov: Controls, receipt: Receipt): void {
  const agent = gov.directory.find(receipt.agent);
  const op = agent && gov.ops.find(agent, receipt.opId);
  const takesOver = receipt.action === 'pause' && receipt.sequence > (op?.control?.sequence ?? 0);
  if (op?.state === 'paused' && takesOver) gov.ops.change(op, { control: receipt });
  gov.control.place(receipt);
  sendAll(gov, gov.control.outbox(receipt.agent));
}

function followSequence(gov: Controls, { agent, sequence }: ControlSequence): void {
  const outbox = gov.control.find(agentKey(agent));
  if (outbox === undefined) gov.control.restoreSequence({ agent, sequence });
  else outbox.lastSequence = Math.max(outbox.lastSequence, sequence);
}

function followRunUse({ control: { runs } }: Controls, used: RunControl): void {
  const known = runs.find(placeOf(used), used.imposedBy);
  if (known?.controlId === used.controlId) runs.put(used);
}

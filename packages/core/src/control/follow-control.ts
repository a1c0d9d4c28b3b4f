import type { Controls } from './controls.ts';
import type { ControlChange, ControlSequence } from './control-slice.ts';
import { sendAll } from './messages.ts';
import type { RunControl } from './run-controls.ts';
import { placeOf } from './run-controls.ts';
import type { Receipt } from '../ops/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { AgentChange } from '../tenancy/index.ts';
import { agentAfter, agentOfChange, credentialEnded } from '../tenancy/index.ts';

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

/** Follows an agent that came, changed or left at another gateway. Its operations follow by their own events. */
export function followAgent(gov: Controls, change: AgentChange): void {
  const id = agentOfChange(change);
  const known = gov.directory.find(id);
  const before = known?.record;
  const after = agentAfter(before, change);
  if (change.kind === 'agent_removed' && known !== undefined) {
    for (const op of [...gov.ops.of(known)]) gov.ops.forget(op);
  }
  if (after !== undefined) {
    const agent = gov.directory.put(after, Math.max(known?.lastSeenAt ?? 0, after.registeredAt));
    agent.blocked = gov.control.isBlocked(agent.key);
    if (change.kind === 'agent_saved') {
      agent.aliveAt = gov.clock.elapsed();
      agent.isHere = false;
    }
  } else if (known !== undefined) gov.directory.remove(known);
  if (before === undefined || before.tokenHash === (after?.tokenHash ?? null)) return;
  const key = agentKey(id);
  gov.control.endStreams(key, credentialEnded());
  if (change.kind === 'agent_removed') gov.control.discardEmpty(key);
}

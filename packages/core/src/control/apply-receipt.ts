import type { Applying, Undo } from '../journal/index.ts';
import { nothingToApply, undoAll } from '../journal/index.ts';
import type { Op, Receipt } from '../ops/index.ts';
import { isInRow } from '../ops/index.ts';
import type { Controls, ControlState } from './controls.ts';
import { queueMessage } from './messages.ts';
import type { ControlMessage } from './outbox.ts';

/** Brings memory in step with a receipt: outbox, block, deadline, and the operation that shows it. */
export function applyReceipt(gov: ControlState, receipt: Receipt, how: Applying): Undo {
  const { control } = gov;
  const outbox = control.outbox(receipt.agent);
  const undo = undoAll(
    receipt.waiting
      ? queueMessage(gov, receipt.agent, { message: messageOf(receipt), receipt }, how)
      : undoAll(outbox.remove(receipt.sequence), control.remember(receipt)),
    control.awaitAnswer(receipt, how),
    outbox.block(receipt),
    show(gov, receipt),
  );
  markBlocked(gov, receipt);
  return () => {
    undo();
    markBlocked(gov, receipt);
  };
}

function markBlocked({ control, directory }: Controls, { agent: id }: Receipt): void {
  const agent = directory.find(id);
  if (agent !== undefined) agent.blocked = control.isBlocked(agent.key);
}

/** The operation shows the control that moved it last, or that took over its pause. */
function show({ directory, ops }: ControlState, receipt: Receipt): Undo {
  const agent = directory.find(receipt.agent);
  const op = agent && ops.find(agent, receipt.opId);
  if (op === undefined || (op.control?.id !== receipt.id && !takesOver(receipt, op))) return nothingToApply();
  return ops.change(op, { control: receipt });
}

/** The same for a start. The row of the operation may say so already. */
export function showAgain(gov: ControlState, receipt: Receipt, how: Applying): void {
  if (!isInRow(gov, receipt.agent, receipt.opId, how)) show(gov, receipt);
}

function takesOver({ action, sequence }: Receipt, { state, control }: Op): boolean {
  return action === 'pause' && state === 'paused' && sequence > (control?.sequence ?? 0);
}

function messageOf({ opId, action, sequence, reason, requestedAt, id }: Receipt): ControlMessage {
  return { opId, signal: action, sequence, reason, issuedAt: requestedAt, controlId: id };
}

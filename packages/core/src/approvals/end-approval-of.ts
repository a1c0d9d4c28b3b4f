import { discardLetter } from '../control/post-message.ts';
import type { Approvals } from './approvals.ts';
import { isOver } from '../ops/lifecycle.ts';
import type { OpMoved } from '../ops/operations.ts';
import { cancelApproval } from './cancel-approval.ts';

/**
 * An operation is over: whoever was asked about it is not asked any more, and the message that it may run, where that
 * was not acknowledged, has nothing more to say.
 */
export function endApprovalOf(gov: Approvals, { op, approvalId, actor, reason }: OpMoved): void {
  if (!isOver(op.state) || approvalId !== undefined) return;
  const agent = op.owner.record.id;
  const approval = gov.approvals.ofOp(agent, op.opId);
  if (approval === undefined) return;
  if (approval.state === 'open') {
    cancelApproval(gov, approval, { actor, reason });
    return;
  }
  if (approval.state !== 'approved' || approval.signalSequence === null) return;
  const mailbox = gov.control.mailbox(agent);
  const letter = mailbox.find(approval.signalSequence);
  if (letter !== undefined) discardLetter(gov, mailbox, letter);
}

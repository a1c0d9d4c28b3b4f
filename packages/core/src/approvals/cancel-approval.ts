import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';
import { approvalEvent, entryPlace, saveApproval } from './save-approval.ts';
import { noticesAfter } from './settle-approval.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import type { Actor } from '../audit/entry.ts';
import { discardMessage } from '../control/messages.ts';
import { isOver } from '../ops/lifecycle.ts';
import type { OpMoved } from '../ops/operations.ts';

/** Nobody needs to decide any more: the operation has ended. */
export function cancelApproval(
  gov: Approvals,
  approval: Approval,
  by: { readonly actor: Actor; readonly reason: string },
): void {
  const at = gov.clock.now();
  const cancelled: Approval = {
    ...approval,
    state: 'cancelled',
    decidedAt: at,
    notices: noticesAfter(gov, approval),
  };
  saveApproval(gov, approval, cancelled);
  gov.journal.record(
    draftOf({
      ...entryPlace(gov, approval, at),
      eventType: 'ApprovalCancelled',
      actor: by.actor,
      reason: by.reason === '' ? null : by.reason,
      payload: canonicalJson({ approval_id: approval.id }),
    }),
  );
  gov.journal.publish(approvalEvent(cancelled, 'cancelled', at));
}

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
  const outbox = gov.control.outbox(agent);
  const queued = outbox.find(approval.signalSequence);
  if (queued !== undefined) discardMessage(gov, outbox, queued);
}

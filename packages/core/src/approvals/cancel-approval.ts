import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import type { Actor } from '../audit/entry.ts';
import type { Approvals } from './approvals.ts';
import type { Approval } from './approval.ts';
import { approvalEvent, entryPlace } from './describe-approval.ts';
import { saveApproval } from './save-approval.ts';
import { noticesAfter } from './settle-approval.ts';

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

import type { Approvals } from './approvals.ts';
import type { ApprovalNotice } from './approval.ts';
import { saveApproval } from './save-approval.ts';

/** Somebody was told of an approval, or telling was given up: it is not told again. */
export function noteNotified(gov: Approvals, id: string, notice: ApprovalNotice): void {
  const approval = gov.approvals.find(id);
  if (approval === undefined) return;
  saveApproval(gov, approval, { ...approval, notices: approval.notices.filter((each) => each !== notice) });
}

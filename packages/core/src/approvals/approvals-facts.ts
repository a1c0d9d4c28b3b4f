import type { Meanings } from '../journal/index.ts';
import { nothingToApply, shownOnly, touchesNobody } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Approvals } from './approvals.ts';
import { approvalRows } from './approvals-rows.ts';
import type { ApprovalEvent, ApprovalsChange } from './approvals-slice.ts';
import { followApproval } from './follow-approval.ts';

function follow(gov: Approvals, change: ApprovalsChange) {
  followApproval(gov, change);
  return nothingToApply();
}

export const approvalFacts: Meanings<Approvals, ApprovalsChange | ApprovalEvent> = {
  approval_saved: {
    apply: follow,
    touch: ({ approval }) => ({ agent: agentKey(approval.agent) }),
    rows: approvalRows.approval_saved,
  },
  grant_saved: {
    apply: follow,
    touch: ({ grant }) => ({ agent: agentKey(grant.agent) }),
    rows: approvalRows.grant_saved,
  },
  approvals_removed: { apply: nothingToApply, touch: touchesNobody, rows: approvalRows.approvals_removed },
  approval: shownOnly,
};

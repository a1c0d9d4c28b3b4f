import { system } from '../audit/entry.ts';
import type { Approvals } from './approvals.ts';
import type { Op } from '../ops/op.ts';
import { opAskedAbout } from './find-approval.ts';
import type { Approval } from './approval.ts';
import { cancelApproval } from './cancel-approval.ts';
import { settleApproval } from './settle-approval.ts';

/** Ends the wait of up to `most` operations that nobody has decided on in time, and returns how many. */
export async function expireApprovals(gov: Approvals, most: number): Promise<number> {
  let count = 0;
  for (const approval of [...gov.approvals.due()].slice(0, most)) {
    const op = opAskedAbout(gov, approval);
    count++;
    if (op === undefined)
      cancelApproval(gov, approval, { actor: system, reason: 'its operation is not known any more' });
    else expireApproval(gov, approval, op);
  }
  if (count === 0) return 0;
  await gov.journal.committed();
  return count;
}

export function expireApproval(gov: Approvals, approval: Approval, op: Op): Approval {
  return settleApproval(gov, approval, op, {
    state: 'expired',
    actor: system,
    reason: 'approval expired',
    verdicts: approval.verdicts,
  });
}

import { peopleBehind } from '../access/credential-lineage.ts';
import type { Principal } from '../access/principal.ts';
import { redactText } from '../audit/redact.ts';
import { releaseMessages } from '../control/messages.ts';
import type { Approvals } from './approvals.ts';
import type { Approval, ApprovalVerdict } from './approval.ts';
import { nameOf } from './approval.ts';
import { giveVerdict } from './give-verdict.ts';
import { settleApproval } from './settle-approval.ts';

/** Somebody rejects, and one is enough: the operation is over, and its agent is told. */
export async function rejectAction(gov: Approvals, by: Principal, id: string, reason: string): Promise<Approval> {
  return await giveVerdict(gov, by, id, reason, async (approval, op) => {
    const at = gov.clock.now();
    const verdict: ApprovalVerdict = {
      verdict: 'reject',
      actor: by.actor,
      people: peopleBehind(gov.keys, by),
      reason: redactText(reason),
      at,
      grant: null,
    };
    const { approval: settled, message } = settleApproval(gov, approval, op, {
      state: 'rejected',
      actor: by.actor,
      reason: `rejected by ${nameOf(by.actor)}${verdict.reason === '' ? '' : `: ${verdict.reason}`}`,
      verdicts: [...approval.verdicts, verdict],
      requestId: by.requestId,
    });
    await gov.journal.committed();
    releaseMessages(gov, [message]);
    return settled;
  });
}

import { peopleBehind } from '../access/credential-lineage.ts';
import { redactText } from '../audit/redact.ts';
import type { Approvals } from './approvals.ts';
import type { Approval, ApprovalVerdict } from './approval.ts';
import { nameOf } from './approval.ts';
import type { Verdict } from './give-verdict.ts';
import { openToVerdict } from './give-verdict.ts';
import { settleApproval } from './settle-approval.ts';

/** Somebody rejects, and one is enough: the operation is over, and its agent is told. */
export function rejectAction(gov: Approvals, command: Verdict, found: Approval): Approval {
  const { by } = command;
  const { approval, op } = openToVerdict(gov, command, found);
  const reason = redactText(command.reason);
  const verdict: ApprovalVerdict = {
    verdict: 'reject',
    actor: by.actor,
    people: peopleBehind(gov.keys, by),
    reason,
    at: gov.clock.now(),
    grant: null,
  };
  return settleApproval(gov, approval, op, {
    state: 'rejected',
    actor: by.actor,
    reason: `rejected by ${nameOf(by.actor)}${reason === '' ? '' : `: ${reason}`}`,
    verdicts: [...approval.verdicts, verdict],
    requestId: by.requestId,
  });
}

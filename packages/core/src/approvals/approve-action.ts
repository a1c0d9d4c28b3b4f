import { peopleBehind } from '../access/credential-lineage.ts';
import type { Principal } from '../access/principal.ts';
import { requireAuthority, standingOf } from '../access/require-authority.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import type { Approvals } from './approvals.ts';
import type { Op } from '../ops/op.ts';
import { moveForSuspension } from '../control/suspend-agent.ts';
import type { Approval, ApprovalVerdict, GrantWish } from './approval.ts';
import { nameOf } from './approval.ts';
import { approvalEvent, entryPlace, saveApproval, saveGrant } from './save-approval.ts';
import type { Verdict } from './give-verdict.ts';
import { openToVerdict } from './give-verdict.ts';
import type { StandingGrant } from './grant.ts';
import { checkGrant, narrowestGrant } from './grant.ts';
import { settleApproval } from './settle-approval.ts';

export interface Approve extends Verdict {
  readonly grant: GrantWish | null;
}

/** Somebody approves. Where enough different people have, the operation runs and its agent is told. */
export function approveAction(gov: Approvals, command: Approve, found: Approval): Approval {
  const { by, reason, grant } = command;
  const { approval, op } = openToVerdict(gov, command, found);
  const at = gov.clock.now();
  requireAuthority(standingOf(gov.keys, by), 'cap', approval.approver);
  if (grant !== null) checkGrant(approval, grant, at);
  const people = peopleBehind(gov.keys, by);
  const verdict: ApprovalVerdict = {
    verdict: 'approve',
    actor: by.actor,
    people,
    reason: redactText(reason),
    at,
    grant,
  };
  const isEnough = approval.verdicts.length + 1 >= approval.required;
  return isEnough ? letRun(gov, by, approval, op, verdict) : noteVerdict(gov, by, approval, verdict);
}

function letRun(gov: Approvals, by: Principal, approval: Approval, op: Op, verdict: ApprovalVerdict): Approval {
  const verdicts = [...approval.verdicts, verdict];
  const grant = grantOf(gov, approval, verdicts, verdict);
  if (grant !== undefined) saveGrant(gov, null, grant);
  const names = verdicts.map(({ actor }) => nameOf(actor)).join(' and ');
  const settled = settleApproval(gov, approval, op, {
    state: 'approved',
    actor: by.actor,
    reason: `approved by ${names}${verdict.reason === '' ? '' : `: ${verdict.reason}`}`,
    verdicts,
    grant,
    requestId: by.requestId,
  });
  const { suspension } = op.owner.record;
  if (suspension !== null) moveForSuspension(gov, by, op.owner, 'pause', suspension);
  return settled;
}

/** One of several verdicts that are needed. */
function noteVerdict(gov: Approvals, by: Principal, approval: Approval, verdict: ApprovalVerdict): Approval {
  const after: Approval = { ...approval, verdicts: [...approval.verdicts, verdict] };
  saveApproval(gov, approval, after);
  gov.journal.record(
    draftOf({
      ...entryPlace(gov, approval, verdict.at),
      eventType: 'ApprovalVerdictGiven',
      actor: by.actor,
      reason: verdict.reason === '' ? null : verdict.reason,
      payload: canonicalJson({
        approval_id: approval.id,
        approvers: after.verdicts.map(({ actor: { id } }) => id),
        required: approval.required,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
      }),
    }),
  );
  gov.journal.publish(approvalEvent(after, 'verdict', verdict.at));
  return after;
}

function grantOf(
  gov: Approvals,
  approval: Approval,
  verdicts: readonly ApprovalVerdict[],
  last: ApprovalVerdict,
): StandingGrant | undefined {
  const narrowest = narrowestGrant(
    verdicts.map(({ grant }) => grant),
    last.at,
  );
  if (narrowest === undefined) return undefined;
  const { agent, policyRule, rules, actionType, resource, coverDigest, covers, runId } = approval;
  return {
    id: `grt_${gov.randomness.hex(12)}`,
    approvalId: approval.id,
    agent,
    policyRule,
    rules,
    approvers: verdicts.length,
    actionType,
    resource,
    coverDigest,
    covers,
    ...narrowest,
    runId: narrowest.reach === 'run' ? runId : null,
    grantedAt: last.at,
    grantedBy: last.actor,
    reason: last.reason,
    uses: 0,
    lastUsedAt: null,
    revokedAt: null,
  };
}

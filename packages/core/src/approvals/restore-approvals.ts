import { system } from '../audit/index.ts';
import type { Approvals, ApprovalsState } from './approvals.ts';
import type { ApprovalsSnapshot } from './approvals-slice.ts';
import { opAskedAbout } from './list-approvals.ts';
import type { Approval } from './approval.ts';
import { approvalFacts } from './approvals-facts.ts';
import { cancelApproval, saveApproval } from './settle-approval.ts';
import type { StandingGrant } from './grant.ts';
import { endGrant } from './grants.ts';
import { restoring } from '../journal/index.ts';
import { boundDigest } from '../ops/index.ts';

/** How long an agent is still told that its operation is over. Later it may not even remember it. */
const toldMs = 86_400_000;

/**
 * Restores approvals, after operations and controls: those that wait for a verdict, those that agents have not
 * acknowledged, and the grants. It cancels an approval whose operation is gone, for example because operations are not
 * durable.
 */
export function restoreApprovals(gov: ApprovalsState, snapshot: ApprovalsSnapshot): void {
  for (const grant of snapshot.grants) approvalFacts.grant_saved.apply(gov, { kind: 'grant_saved', grant }, restoring);
  gov.approvals.forgetExpiredGrants();
  for (const { id } of snapshot.grants) endIfVague(gov, gov.approvals.findGrant(id));
  for (const approval of snapshot.approvals.toSorted((a, b) => a.requestedAt - b.requestedAt)) {
    approvalFacts.approval_saved.apply(gov, { kind: 'approval_saved', approval }, restoring);
    if (approval.notices.length > 0 && !gov.approvals.settings.notifies) {
      saveApproval(gov, { ...approval, notices: [] });
    }
    restore(gov, gov.approvals.find(approval.id) ?? approval);
  }
}

/**
 * Older versions did not record which operation and rules a grant is for. Ends such a grant: people are asked again.
 */
function endIfVague(gov: Approvals, grant: StandingGrant | undefined): void {
  if (grant === undefined || grant.coverDigest !== '') return;
  endGrant(gov, grant, { actor: system }, 'an older version gave it without recording all that it covers');
}

function restore(gov: Approvals, approval: Approval): void {
  const op = opAskedAbout(gov, approval);
  if (approval.state === 'open') {
    if (op?.state !== 'pending') {
      cancelApproval(gov, approval, { actor: system, reason: 'its operation is not known any more' });
    }
    return;
  }
  if (approval.signalSequence === null) return;
  const isKnown = op !== undefined && boundDigest(op) === approval.digest;
  const isToBeTold =
    approval.state === 'approved'
      ? isKnown && (op.state === 'running' || op.state === 'paused')
      : gov.directory.find(approval.agent) !== undefined && gov.clock.now() - (approval.decidedAt ?? 0) < toldMs;
  if (!isToBeTold) saveApproval(gov, { ...approval, signalSequence: null });
}

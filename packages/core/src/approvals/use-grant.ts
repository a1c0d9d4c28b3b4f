import { resourceOf } from '../decision/action.ts';
import type { CheckRequest } from '../decision/check-request.ts';
import type { Governance } from '../governance.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Op } from '../ops/op.ts';
import type { StandingGrant } from './grant.ts';
import { saveGrant } from './save-approval.ts';

/** The grant by which an action that a rule asks about needs nobody's approval. */
export function findGrant(
  gov: Governance,
  request: CheckRequest,
  op: Op,
  policyRule: string,
  now: EpochMs,
): StandingGrant | undefined {
  const agent = op.owner.record.id;
  const resourceDigest = gov.sha256(resourceOf(request.action));
  return gov.approvals.grantFor({ agent, policyRule, actionType: request.action.type, resourceDigest }, op.runId, now);
}

/** An action was allowed by it. */
export function useGrant(gov: Governance, grant: StandingGrant, now: EpochMs): void {
  saveGrant(gov, grant, { ...grant, uses: grant.uses + 1, lastUsedAt: now });
}

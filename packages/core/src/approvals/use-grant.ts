import type { EpochMs } from '../kernel/clock.ts';
import type { CheckRequest } from '../action/check-request.ts';
import type { Asking } from '../policy/asking-rules.ts';
import type { Approvals } from './approvals.ts';
import type { Op } from '../ops/op.ts';
import { saveGrant } from './save-approval.ts';
import { coverOf } from './grant.ts';
import type { StandingGrant } from './grant.ts';

/** The grant by which an action that rules ask about needs nobody's approval. */
export function findGrant(
  gov: Approvals,
  request: CheckRequest,
  op: Op,
  asking: Asking | undefined,
  now: EpochMs,
): StandingGrant | undefined {
  if (asking?.grants !== true) return undefined;
  const agent = op.owner.record.id;
  const coverDigest = gov.sha256(coverOf(request.action));
  return gov.approvals.grantFor({ agent, coverDigest }, asking, op.runId, now);
}

/** An action was allowed by it. */
export function useGrant(gov: Approvals, grant: StandingGrant, now: EpochMs): void {
  saveGrant(gov, grant, { ...grant, uses: grant.uses + 1, lastUsedAt: now });
}

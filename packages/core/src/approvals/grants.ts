import type { Principal } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { CheckRequest } from '../action/index.ts';
import { userOf } from '../action/index.ts';
import type { Approvals } from './approvals.ts';
import type { StandingGrant } from './grant.ts';
import { coverOf } from './grant.ts';
import { canonicalJson, draftOf, lineageOfId, redactText } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Asking } from '../policy/index.ts';

/** The grant that spares an action the approval that rules ask for. */
export function findGrant(
  gov: Approvals,
  request: CheckRequest,
  { agent, delegators }: { readonly agent: AgentId; readonly delegators: readonly string[] },
  runId: string,
  asking: Asking | undefined,
  now: EpochMs,
): StandingGrant | undefined {
  if (asking?.grants !== true) return undefined;
  const coverDigest = gov.sha256(coverOf(request.action, userOf(request), delegators));
  return gov.approvals.grantFor({ agent, coverDigest }, asking, runId, now);
}

/** Counts an action that the grant allowed. */
export function useGrant(gov: Approvals, grant: StandingGrant, now: EpochMs): void {
  gov.journal.apply({ kind: 'grant_saved', grant: { ...grant, uses: grant.uses + 1, lastUsedAt: now } });
}

export interface RevokeGrant {
  readonly by: Principal;
  readonly grantId: string;
  readonly reason: string;
}

/** Only the store knows a grant that has ended. */
export async function readGrant(gov: Approvals, { grantId }: RevokeGrant): Promise<StandingGrant | undefined> {
  return await gov.journal.durable(() => gov.approvals.findGrant(grantId) ?? gov.approvals.reader.grant(grantId));
}

/** Ends a standing grant. A grant that is already revoked stays as it is. */
export function revokeGrant(
  gov: Approvals,
  { by, grantId, reason }: RevokeGrant,
  stored: StandingGrant | undefined,
): StandingGrant {
  // Another call may have used the grant during the read, so memory comes first.
  const grant = gov.approvals.findGrant(grantId) ?? stored;
  if (grant === undefined || !mayReach(by, grant.agent)) {
    throw new ReeveError('grant_not_found', `there is no grant "${grantId}"`);
  }
  return grant.revokedAt === null ? endGrant(gov, grant, by, redactText(reason)) : grant;
}

/** Ends a grant, and records who did. */
export function endGrant(
  gov: Approvals,
  grant: StandingGrant,
  by: Pick<Principal, 'actor' | 'requestId'>,
  reason: string,
): StandingGrant {
  const at = gov.clock.now();
  const revoked = { ...grant, revokedAt: at };
  gov.journal.apply({ kind: 'grant_saved', grant: revoked });
  gov.journal.record(
    draftOf({
      at,
      eventType: 'GrantRevoked',
      lineage: gov.directory.find(grant.agent)?.lineage ?? lineageOfId(grant.agent),
      actor: by.actor,
      policyRule: grant.policyRule,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        approval_id: grant.approvalId,
        grant_id: grant.id,
        uses: grant.uses,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
      }),
    }),
  );
  return revoked;
}

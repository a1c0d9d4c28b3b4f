import type { Principal } from '../access/principal.ts';
import { mayReach } from '../access/principal.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import type { Approvals } from './approvals.ts';
import { ReeveError } from '../kernel/errors.ts';
import { lineageOfId } from '../audit/lineage.ts';
import type { StandingGrant } from './grant.ts';
import { saveGrant } from './save-approval.ts';

export interface RevokeGrant {
  readonly by: Principal;
  readonly grantId: string;
  readonly reason: string;
}

/** A grant that has ended is known to the store alone. */
export async function readGrant(gov: Approvals, { grantId }: RevokeGrant): Promise<StandingGrant | undefined> {
  await gov.journal.committed();
  return gov.approvals.findGrant(grantId) ?? (await gov.approvals.reader.grant(grantId));
}

/** Ends a standing grant. One that has ended stays as it is. */
export function revokeGrant(
  gov: Approvals,
  { by, grantId, reason }: RevokeGrant,
  stored: StandingGrant | undefined,
): StandingGrant {
  // While it was read it may have been used: memory comes first.
  const grant = gov.approvals.findGrant(grantId) ?? stored;
  if (grant === undefined || !mayReach(by, grant.agent)) {
    throw new ReeveError('grant_not_found', `there is no grant "${grantId}"`);
  }
  return grant.revokedAt === null ? endGrant(gov, grant, by, redactText(reason)) : grant;
}

/** Ends it in memory, in this turn and in the log. */
export function endGrant(
  gov: Approvals,
  grant: StandingGrant,
  by: Pick<Principal, 'actor' | 'requestId'>,
  reason: string,
): StandingGrant {
  const at = gov.clock.now();
  const revoked = { ...grant, revokedAt: at };
  saveGrant(gov, grant, revoked);
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

import type { Principal } from '../access/principal.ts';
import { mayReach, requireScope } from '../access/principal.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import { checkLength, longest } from '../kernel/bounds.ts';
import type { Approvals } from './approvals.ts';
import { ReeveError } from '../kernel/errors.ts';
import { lineageOfId } from '../audit/lineage.ts';
import type { StandingGrant } from './grant.ts';
import { saveGrant } from './save-approval.ts';

/** Ends a standing grant. One that has ended stays as it is. */
export async function revokeGrant(gov: Approvals, by: Principal, id: string, reason: string): Promise<StandingGrant> {
  requireScope(by, 'write');
  checkLength('reason', reason, longest.text);
  await gov.journal.committed();
  const stored = gov.approvals.findGrant(id) ?? (await gov.approvals.reader.grant(id));
  // While that was read it may have been used: memory comes first, and from here on nothing waits.
  const grant = gov.approvals.findGrant(id) ?? stored;
  if (grant === undefined || !mayReach(by, grant.agent)) {
    throw new ReeveError('grant_not_found', `there is no grant "${id}"`);
  }
  if (grant.revokedAt !== null) return grant;
  const revoked = endGrant(gov, grant, by, redactText(reason));
  await gov.journal.committed();
  return revoked;
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

import type { Approvals } from './approvals.ts';
import type { Approval } from './approval.ts';
import type { StandingGrant } from './grant.ts';

/** Puts an approval in the place of what it was, in memory and in this turn. */
export function saveApproval(gov: Approvals, before: Approval | null, after: Approval): void {
  gov.approvals.place(after);
  gov.journal.onFailure(() => {
    if (before === null) gov.approvals.drop(after.id);
    else gov.approvals.place(before);
  });
  gov.journal.write({ kind: 'approval_saved', approval: after });
}

/** The same for a grant. */
export function saveGrant(gov: Approvals, before: StandingGrant | null, after: StandingGrant): void {
  gov.approvals.placeGrant(after);
  gov.journal.onFailure(() => {
    if (before === null) gov.approvals.dropGrant(after);
    else gov.approvals.placeGrant(before);
  });
  gov.journal.write({ kind: 'grant_saved', grant: after });
}

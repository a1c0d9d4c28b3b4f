import type { Descents } from '../access/credential-lineage.ts';
import { peopleBehind } from '../access/credential-lineage.ts';
import type { Principal } from '../access/principal.ts';
import { requireAuthority, standingOf } from '../access/require-authority.ts';
import type { Approvals } from './approvals.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Op } from '../ops/op.ts';
import { opAskedAbout } from './find-approval.ts';
import type { Approval, ApprovalVerdict } from './approval.ts';
import { expireApproval } from './expire-approvals.ts';

/** A person approves or rejects. */
export interface Verdict {
  readonly by: Principal;
  readonly approvalId: string;
  readonly reason: string;
}

/**
 * The approval that a caller decides on, which must be open, and its operation. The caller must be allowed to: nobody
 * decides for their own agent, and nobody twice. `found` is what was read before; another call may have decided since,
 * so memory comes first.
 */
export function openToVerdict(
  gov: Approvals,
  { by, approvalId }: Verdict,
  found: Approval,
): { readonly approval: Approval; readonly op: Op } {
  const approval = gov.approvals.find(approvalId);
  const op = opAskedAbout(gov, found);
  if (approval?.state !== 'open' || op === undefined) throw decided(approval ?? found);
  if (gov.approvals.isDue(approval)) throw decided(expireApproval(gov, approval, op));
  requireAuthority(standingOf(gov.keys, by, op.owner.record), 'approval');
  requireNew(gov, by, approval);
  return { approval, op };
}

/** A key and its tokens are one person, and so is an account with all keys that it made, whatever the session. */
function requireNew({ keys }: Approvals, by: Principal, { verdicts, state }: Approval): void {
  const people = peopleBehind(keys, by);
  if (!verdicts.some((verdict) => peopleOf(keys, verdict).some((person) => people.includes(person)))) return;
  throw new ReeveError('already_decided', 'you have given your verdict; another person must give theirs', { state });
}

/** An older version did not record them: then it is whoever stands behind the credential by now. */
function peopleOf(keys: Descents, { people, actor }: ApprovalVerdict): readonly string[] {
  return people.length > 0 ? people : [actor.id, ...peopleBehind(keys, { credentialId: actor.id })];
}

function decided({ id, state }: Approval): ReeveError {
  const what = state === 'open' ? 'cancelled' : state;
  return new ReeveError('already_decided', `approval "${id}" is ${what} already`, { state: what });
}

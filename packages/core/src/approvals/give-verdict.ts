import type { Descents } from '../access/credential-lineage.ts';
import { peopleBehind } from '../access/credential-lineage.ts';
import type { Principal } from '../access/principal.ts';
import { requireScope } from '../access/principal.ts';
import { requireAuthority, standingOf } from '../access/require-authority.ts';
import { releaseMessages } from '../control/messages.ts';
import { checkLength, longest } from '../kernel/bounds.ts';
import type { Approvals } from './approvals.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Op } from '../ops/op.ts';
import { opAskedAbout, findApproval } from './find-approval.ts';
import type { Approval, ApprovalVerdict } from './approval.ts';
import { expireApproval } from './expire-approvals.ts';

/**
 * Has a caller decide on an approval that is open, and on which it may. `decide` comes in the same breath as the look at
 * the approval, so that of two verdicts at once one counts.
 */
export async function giveVerdict(
  gov: Approvals,
  by: Principal,
  id: string,
  reason: string,
  decide: (approval: Approval, op: Op) => Promise<Approval>,
): Promise<Approval> {
  requireScope(by, 'write');
  checkLength('reason', reason, longest.text);
  const found = await findApproval(gov, by, id);
  // While that was read another call may have decided it: memory comes first.
  const approval = gov.approvals.find(id);
  const op = opAskedAbout(gov, found);
  if (approval?.state !== 'open' || op === undefined) {
    await gov.journal.committed();
    throw decided(gov.approvals.find(id) ?? found);
  }
  if (gov.approvals.isDue(approval)) {
    const { approval: expired, message } = expireApproval(gov, approval, op);
    await gov.journal.committed();
    releaseMessages(gov, [message]);
    throw decided(expired);
  }
  requireAuthority(standingOf(gov.keys, by, op.owner.record), 'approval');
  requireNew(gov, by, approval);
  return await decide(approval, op);
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

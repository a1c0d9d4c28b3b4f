import type { Descents, Principal } from '../access/index.ts';
import { peopleBehind, requireAuthority, requireScope, standingOf } from '../access/index.ts';
import type { Approval, ApprovalVerdict, GrantWish } from './approval.ts';
import type { Approver } from './approver.ts';
import { readApprover, refusalOfApprover } from './approver.ts';
import { isSelfApproved } from './approval.ts';
import type { Approvals } from './approvals.ts';
import {
  expireApproval,
  rejectApproval,
  settleApproval,
  approvalEvent,
  entryOrigin,
  saveApproval,
} from './settle-approval.ts';
import type { StandingGrant } from './grant.ts';
import { checkGrant, narrowestGrant } from './grant.ts';
import { refuseByLabels } from './refuse-by-labels.ts';
import { findApproval, opAskedAbout } from './list-approvals.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { moveForSuspension } from '../control/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import { hasLapsed, isHeldAbove, requireReadInFull, registeredBy } from '../tenancy/index.ts';

/** A person approves or rejects. */
export interface Verdict {
  readonly by: Principal;
  readonly approvalId: string;
  readonly reason: string;
  /** Set if the verdict came by a link that acts in the person's name. */
  readonly via?: 'chat_link';
}

/** What a verdict is about, and who gives it, as read before. */
export interface VerdictContext {
  readonly approval: Approval;
  readonly approver: Approver;
}

/** Reads an approval that the caller may see, and who is behind the caller. */
export async function readVerdictContext(gov: Approvals, { by, approvalId }: Verdict): Promise<VerdictContext> {
  const approval = await findApproval(gov, by, approvalId);
  return { approval, approver: await readApprover(gov, by, [approval]) };
}

/**
 * Finds the open approval that a caller decides on, and its operation. The caller must be allowed to decide. `found` was
 * read before, and another call may have decided since, so memory comes first.
 */
function openToVerdict(
  gov: Approvals,
  { approvalId }: Verdict,
  { approval: found, approver }: VerdictContext,
): { readonly approval: Approval; readonly op: Op; readonly isOwn: boolean } {
  const approval = gov.approvals.find(approvalId);
  const op = opAskedAbout(gov, found);
  if (approval?.state !== 'open' || op === undefined) throw decided(approval ?? found);
  if (gov.approvals.isDue(approval)) throw decided(expireApproval(gov, approval, op));
  return { approval, op, ...requireVerdict(gov, approver, approval, op) };
}

/** Nobody decides for their own agent, nobody decides twice, and rules say whose verdicts count. */
function requireVerdict(
  gov: Approvals,
  approver: Approver,
  approval: Approval,
  { owner }: Op,
): { readonly isOwn: boolean } {
  const standing = standingOf(gov.keys, approver.by, registeredBy(gov.directory, owner));
  requireAuthority(standing, approval.allowsSelf ? 'approval' : 'approval_by_others');
  const refusal = refusalOfApprover(approval, approver);
  if (refusal !== undefined) throw refusal;
  requireNew(gov, approver.by, approval);
  return { isOwn: standing.isOwn };
}

/** Why the caller's verdict on an open approval would be refused; undefined if it would not. */
export function refusalOfVerdict(gov: Approvals, approver: Approver, approval: Approval): ReeveError | undefined {
  const op = opAskedAbout(gov, approval);
  if (approval.state !== 'open' || op === undefined) return undefined;
  try {
    requireScope(approver.by, 'write');
    requireVerdict(gov, approver, approval, op);
    return undefined;
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
}

/** A key and its tokens count as one person. So do an account, its sessions and all keys that it made. */
function requireNew({ keys }: Approvals, by: Principal, { verdicts, state }: Approval): void {
  const people = peopleBehind(keys, by);
  if (!verdicts.some((verdict) => peopleOf(keys, verdict).some((person) => people.includes(person)))) return;
  throw new ReeveError('already_decided', 'you have given your verdict; another person must give theirs', { state });
}

/** Older versions did not record the people. The people who are behind the credential now stand in. */
function peopleOf(keys: Descents, { people, actor }: ApprovalVerdict): readonly string[] {
  return people.length > 0 ? people : [actor.id, ...peopleBehind(keys, { credentialId: actor.id })];
}

function decided({ id, state }: Approval): ReeveError {
  const what = state === 'open' ? 'cancelled' : state;
  return new ReeveError('already_decided', `approval "${id}" is ${what} already`, { state: what });
}

/** The gateway itself has ended what people were about to allow. */
function refused({ id, state }: Approval, why: string): ReeveError {
  return new ReeveError('already_decided', `approval "${id}" is ${state} now: ${why}`, { state });
}

export interface Approve extends Verdict {
  readonly grant: GrantWish | null;
}

/** Approves an action. Once enough different people have approved, the operation runs and its agent is told. */
export function approveAction(gov: Approvals, command: Approve, found: VerdictContext): Approval {
  const { by, reason, grant } = command;
  const { approval, op, isOwn } = openToVerdict(gov, command, found);
  requireFree(gov, op);
  const at = gov.clock.now();
  requireAuthority(standingOf(gov.keys, by), 'cap', approval.approver);
  if (grant !== null) checkGrant(approval, grant, at);
  const refusal = refuseByLabels(gov, approval, op);
  if (refusal !== undefined) throw refused(rejectApproval(gov, approval, op, refusal), refusal);
  const people = peopleBehind(gov.keys, by);
  const verdict: ApprovalVerdict = {
    verdict: 'approve',
    actor: by.actor,
    people,
    isSelfApproved: isOwn,
    reason: redactText(reason),
    at,
    grant,
  };
  const isEnough = approval.verdicts.length + 1 >= approval.required;
  return isEnough ? letRun(gov, command, approval, op, verdict) : noteVerdict(gov, command, approval, verdict);
}

/**
 * In a suspended scope nothing begins, nor on behalf of an agent that is held. What waits for people goes on waiting. Nothing
 * begins by a delegation that is over, even if nobody has ended it yet.
 */
function requireFree({ clock, directory }: Approvals, { owner }: Op): void {
  // The approval may be decided already.
  requireReadInFull(directory, owner);
  if (hasLapsed(directory, owner, clock.now())) {
    throw new ReeveError('already_decided', 'the delegation that its agent acted by is over, so it is terminated');
  }
  const hold = directory.suspensions.over(owner.record.id);
  const held =
    hold?.message ?? (isHeldAbove(directory, owner) ? 'an agent on whose behalf it would happen is suspended' : null);
  if (held === null) return;
  throw new ReeveError('suspended', `${held}; it can be approved once that is lifted, and rejected now`);
}

function letRun(gov: Approvals, { by, via }: Verdict, approval: Approval, op: Op, verdict: ApprovalVerdict): Approval {
  const verdicts = [...approval.verdicts, verdict];
  const grant = grantOf(gov, approval, verdicts, verdict);
  if (grant !== undefined) gov.journal.apply({ kind: 'grant_saved', grant });
  const settled = settleApproval(gov, approval, op, {
    state: 'approved',
    actor: by.actor,
    verdicts,
    grant,
    requestId: by.requestId,
    via,
  });
  const { suspension } = op.owner.record;
  if (suspension !== null) moveForSuspension(gov, by, op.owner, 'pause', suspension);
  return settled;
}

/** Records one of several needed verdicts. */
function noteVerdict(gov: Approvals, { by, via }: Verdict, approval: Approval, verdict: ApprovalVerdict): Approval {
  const after: Approval = { ...approval, verdicts: [...approval.verdicts, verdict] };
  saveApproval(gov, after);
  gov.journal.record(
    draftOf({
      ...entryOrigin(gov, approval, verdict.at),
      eventType: 'ApprovalVerdictGiven',
      actor: by.actor,
      reason: verdict.reason === '' ? null : verdict.reason,
      payload: canonicalJson({
        approval_id: approval.id,
        approvers: after.verdicts.map(({ actor: { id } }) => id),
        required: approval.required,
        ...(verdict.isSelfApproved ? { self_approved: true } : {}),
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
        ...(via === undefined ? {} : { via }),
      }),
    }),
  );
  gov.journal.apply(approvalEvent(after, 'verdict', verdict.at));
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
  const { agent, policyRule, rules, actionType, resource, coverDigest, covers, runId, by, notUser } = approval;
  return {
    id: `grt_${gov.randomness.hex(12)}`,
    approvalId: approval.id,
    agent,
    policyRule,
    rules,
    approvers: verdicts.length,
    isSelfApproved: isSelfApproved(verdicts),
    ...(by === undefined ? {} : { by }),
    ...(notUser === undefined ? {} : { notUser }),
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

/** Rejects an action. One rejection is enough: the operation is over, and its agent is told. */
export function rejectAction(gov: Approvals, command: Verdict, found: VerdictContext): Approval {
  const { by } = command;
  const { approval, op } = openToVerdict(gov, command, found);
  const verdict: ApprovalVerdict = {
    verdict: 'reject',
    actor: by.actor,
    people: peopleBehind(gov.keys, by),
    isSelfApproved: false,
    reason: redactText(command.reason),
    at: gov.clock.now(),
    grant: null,
  };
  return settleApproval(gov, approval, op, {
    state: 'rejected',
    actor: by.actor,
    verdicts: [...approval.verdicts, verdict],
    requestId: by.requestId,
    via: command.via,
  });
}

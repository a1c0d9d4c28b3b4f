import type { Approval, ApprovalNotice, ApprovalVerdict } from './approval.ts';
import { isSelfApproved, outcomeOf } from './approval.ts';
import type { ApprovalChange, ApprovalEvent } from './approvals-slice.ts';
import type { Approvals } from './approvals.ts';
import type { StandingGrant } from './grant.ts';
import { opAskedAbout } from './list-approvals.ts';
import { canonicalJson, draftOf, system, lineageOfId } from '../audit/index.ts';
import type { Actor, EntryDraft } from '../audit/index.ts';
import { makeRoom } from '../control/index.ts';
import { ownWork } from '../journal/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { traceIdsIn } from '../kernel/index.ts';
import { isOver, moveOp } from '../ops/index.ts';
import type { Op, OpMoved } from '../ops/index.ts';

export interface Outcome {
  readonly state: 'approved' | 'rejected' | 'expired';
  readonly actor: Actor;
  readonly verdicts: readonly ApprovalVerdict[];
  readonly grant?: StandingGrant | undefined;
  readonly requestId?: string | undefined;
  /** Set if the last verdict came by a link. */
  readonly via?: 'chat_link' | undefined;
}

const eventTypes = {
  approved: 'ApprovalGranted',
  rejected: 'ApprovalRejected',
  expired: 'ApprovalExpired',
} as const;

/**
 * Ends the wait of an operation: it runs, or it is over and its reservation is released. Its agent gets a message,
 * which stays in the outbox until the agent acknowledges it, even over a restart.
 */
export function settleApproval(gov: Approvals, approval: Approval, op: Op, outcome: Outcome): Approval {
  const { state, actor, verdicts, grant, requestId, via } = outcome;
  const reason = outcomeOf(outcome);
  const at = gov.clock.now();
  const request = requestId === undefined ? {} : { request_id: requestId };
  const approved = state === 'approved';
  moveOp(gov, op, approved ? 'allow' : 'terminate', {
    actor,
    reason,
    details: { approval_id: approval.id, ...request },
    approvalId: approval.id,
  });
  const sequence = gov.control.outbox(approval.agent).lastSequence + 1;
  const settled: Approval = {
    ...approval,
    state,
    verdicts,
    decidedAt: at,
    grantId: grant?.id ?? null,
    signalSequence: sequence,
    notices: noticesAfter(gov, approval),
  };
  saveApproval(gov, settled);
  gov.journal.apply({ kind: 'control_sequence_saved', sequence: { agent: approval.agent, sequence } });
  makeRoom(gov, op.owner);
  gov.journal.record(
    draftOf({
      ...entryOrigin(gov, approval, at),
      eventType: eventTypes[state],
      actor,
      reason,
      payload: canonicalJson({
        approval_id: approval.id,
        approvers: verdicts.filter(({ verdict }) => verdict === 'approve').map(({ actor: { id } }) => id),
        required: approval.required,
        ...(isSelfApproved(verdicts) ? { self_approved: true } : {}),
        ...(grant === undefined ? {} : { grant: describeGrant(grant) }),
        ...request,
        ...(via === undefined ? {} : { via }),
      }),
    }),
  );
  gov.journal.apply(approvalEvent(settled, state, at));
  return settled;
}

/** The notifications to send once an approval is decided. The decision comes last. */
export function noticesAfter(gov: Approvals, { notices }: Approval): readonly ApprovalNotice[] {
  return gov.approvals.settings.notifies ? [...notices, 'decided'] : notices;
}

function describeGrant({ id, reach, expiresAt, runId }: StandingGrant) {
  return { expires_at: new Date(expiresAt).toISOString(), id, reach, ...(runId === null ? {} : { run_id: runId }) };
}

/** Cancels an approval because its operation has ended. */
export function cancelApproval(
  gov: Approvals,
  approval: Approval,
  by: { readonly actor: Actor; readonly reason: string },
): void {
  const at = gov.clock.now();
  const cancelled: Approval = {
    ...approval,
    state: 'cancelled',
    decidedAt: at,
    notices: noticesAfter(gov, approval),
  };
  saveApproval(gov, cancelled);
  gov.journal.record(
    draftOf({
      ...entryOrigin(gov, approval, at),
      eventType: 'ApprovalCancelled',
      actor: by.actor,
      reason: by.reason === '' ? null : by.reason,
      payload: canonicalJson({ approval_id: approval.id }),
    }),
  );
  gov.journal.apply(approvalEvent(cancelled, 'cancelled', at));
}

/**
 * Reacts to the end of an operation. It cancels an open approval, and discards an unacknowledged message that the
 * operation may run.
 */
export function endApprovalOf(gov: Approvals, { op, approvalId, actor, reason }: OpMoved): void {
  if (!isOver(op.state) || approvalId !== undefined) return;
  const agent = op.owner.record.id;
  const approval = gov.approvals.ofOp(agent, op.opId);
  if (approval === undefined) return;
  if (approval.state === 'open') {
    cancelApproval(gov, approval, { actor, reason });
    return;
  }
  if (approval.state === 'approved' && approval.signalSequence !== null) {
    saveApproval(gov, { ...approval, signalSequence: null });
  }
}

/**
 * The approvals that nobody decided in time, and those whose operation was ended by a gateway that did not know of them. Of
 * an agent that it could not read in full, a gateway does not know that.
 */
function lapsed({ approvals, directory, ops }: Approvals): readonly Approval[] {
  const openOf = ({ owner, opId }: Op) => {
    const approval = approvals.ofOp(owner.record.id, opId);
    return approval?.state === 'open' ? approval : undefined;
  };
  const ended = [...ops.endedWaiting((op) => openOf(op) !== undefined)].flatMap((op) => openOf(op) ?? []);
  return [...new Set([...approvals.due(), ...ended])].filter(({ agent }) => !directory.outOfService.has(agent));
}

/** Expires or cancels up to `most` approvals that have lapsed, and returns how many. */
export async function expireApprovals(gov: Approvals, most: number): Promise<number> {
  if (lapsed(gov).length === 0) return 0;
  return await gov.journal.turn(ownWork, () => {
    const due = lapsed(gov).slice(0, most);
    for (const approval of due) {
      const op = opAskedAbout(gov, approval);
      if (op === undefined)
        cancelApproval(gov, approval, { actor: system, reason: 'its operation is not known any more' });
      else if (isOver(op.state))
        cancelApproval(gov, approval, { actor: system, reason: `its operation has ended: ${op.reason}` });
      else expireApproval(gov, approval, op);
    }
    return due.length;
  });
}

export function expireApproval(gov: Approvals, approval: Approval, op: Op): Approval {
  return settleApproval(gov, approval, op, {
    state: 'expired',
    actor: system,
    verdicts: approval.verdicts,
  });
}

/** Rejects in the name of the gateway what must not run any more. Its agent is told why. */
export function rejectApproval(gov: Approvals, approval: Approval, op: Op, reason: string): Approval {
  const at = gov.clock.now();
  const own = { verdict: 'reject', actor: system, people: [], isSelfApproved: false, reason, at, grant: null } as const;
  return settleApproval(gov, approval, op, { state: 'rejected', actor: system, verdicts: [...approval.verdicts, own] });
}

export function saveApproval(gov: Approvals, approval: Approval): void {
  gov.journal.apply({ kind: 'approval_saved', approval });
}

type EntryOrigin = Pick<EntryDraft, 'at' | 'lineage' | 'opId' | 'traceId' | 'spanId' | 'policyRule' | 'policyVersion'>;

/** The time, lineage, operation and policy of an audit entry about an approval. */
export function entryOrigin(gov: Approvals, approval: Approval, at: EpochMs): EntryOrigin {
  const { agent, opId, policyRule, policyVersion } = approval;
  const lineage = gov.directory.find(agent)?.lineage ?? lineageOfId(agent);
  return { at, lineage, opId, ...traceIdsIn(opId), policyRule, policyVersion };
}

export function approvalEvent(approval: Approval, change: ApprovalChange, at: EpochMs): ApprovalEvent {
  return { type: 'approval', at, agent: approval.agent, change, approval };
}

/**
 * The approvals that people are to hear of. What a gateway could not read in full may be decided already: to note that
 * people have heard of it would open it again.
 */
export function* owingNotices({ approvals, directory }: Approvals): Generator<Approval> {
  for (const approval of approvals.owing()) if (!directory.outOfService.has(approval.agent)) yield approval;
}

/** Notes that a notification was sent or abandoned. It is not sent again. */
export function noteNotified(gov: Approvals, id: string, notice: ApprovalNotice): void {
  const approval = gov.approvals.find(id);
  if (approval === undefined || gov.directory.outOfService.has(approval.agent)) return;
  saveApproval(gov, { ...approval, notices: approval.notices.filter((each) => each !== notice) });
}

/** Notes that the message with the outcome has left the agent's outbox. It is not sent again. */
export function noteSignalled(
  gov: Approvals,
  { agent, sequence }: { readonly agent: AgentId; readonly sequence: number },
): void {
  const approval = gov.approvals.ofSignal(agent, sequence);
  if (approval !== undefined) saveApproval(gov, { ...approval, signalSequence: null });
}

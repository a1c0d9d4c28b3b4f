import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import type { Actor } from '../audit/entry.ts';
import { makeRoom } from '../control/issue-controls.ts';
import { postMessage } from '../control/messages.ts';
import type { Approvals } from './approvals.ts';
import { moveOp } from '../ops/move-op.ts';
import type { Op } from '../ops/op.ts';
import type { Approval, ApprovalNotice, ApprovalVerdict } from './approval.ts';
import { approvalEvent, entryPlace, saveApproval } from './save-approval.ts';
import type { StandingGrant } from './grant.ts';

export interface Outcome {
  readonly state: 'approved' | 'rejected' | 'expired';
  readonly actor: Actor;
  /** What the operation's agent is told. */
  readonly reason: string;
  readonly verdicts: readonly ApprovalVerdict[];
  readonly grant?: StandingGrant | undefined;
  readonly requestId?: string | undefined;
}

const eventTypes = {
  approved: 'ApprovalGranted',
  rejected: 'ApprovalRejected',
  expired: 'ApprovalExpired',
} as const;

/**
 * Ends the wait of an operation: it runs, or it is over and what was held back for it is free. Its agent gets a message,
 * which stays in its outbox until it is acknowledged, also over a restart.
 */
export function settleApproval(gov: Approvals, approval: Approval, op: Op, outcome: Outcome): Approval {
  const { state, actor, reason, verdicts, grant, requestId } = outcome;
  const at = gov.clock.now();
  const request = requestId === undefined ? {} : { request_id: requestId };
  const approved = state === 'approved';
  moveOp(gov, op, approved ? 'allow' : 'terminate', {
    actor,
    reason,
    details: { approval_id: approval.id, ...request },
    approvalId: approval.id,
  });
  const message = postMessage(gov, op, approved ? 'allow' : 'terminate', reason);
  const settled: Approval = {
    ...approval,
    state,
    verdicts,
    decidedAt: at,
    grantId: grant?.id ?? null,
    signalSequence: message.sequence,
    notices: noticesAfter(gov, approval),
  };
  saveApproval(gov, approval, settled);
  makeRoom(gov, op.owner);
  gov.journal.record(
    draftOf({
      ...entryPlace(gov, approval, at),
      eventType: eventTypes[state],
      actor,
      reason,
      payload: canonicalJson({
        approval_id: approval.id,
        approvers: verdicts.filter(({ verdict }) => verdict === 'approve').map(({ actor: { id } }) => id),
        required: approval.required,
        ...(grant === undefined ? {} : { grant: describeGrant(grant) }),
        ...request,
      }),
    }),
  );
  gov.journal.publish(approvalEvent(settled, state, at));
  return settled;
}

/** That it is decided is to be told as well, after what was to be told before. */
export function noticesAfter(gov: Approvals, { notices }: Approval): readonly ApprovalNotice[] {
  return gov.approvals.settings.notifies ? [...notices, 'decided'] : notices;
}

function describeGrant({ id, reach, expiresAt, runId }: StandingGrant) {
  return { expires_at: new Date(expiresAt).toISOString(), id, reach, ...(runId === null ? {} : { run_id: runId }) };
}

import type { Width } from '../access/index.ts';
import type { Json } from '../audit/index.ts';
import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { CheckRequest } from '../action/index.ts';
import { describeAction, keptUser, userOf } from '../action/index.ts';
import type { Approvals } from './approvals.ts';
import type { EpochMs } from '../kernel/index.ts';
import { timestamp } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import { boundDigest } from '../ops/index.ts';
import type { ApproverTerms, Asking } from '../policy/index.ts';
import { waitOf } from '../policy/index.ts';
import type { Approval } from './approval.ts';
import { approvalEvent, entryOrigin, saveApproval } from './settle-approval.ts';
import { labelsBorne } from './refuse-by-labels.ts';
import { coverOf, coverWords } from './grant.ts';

/** How many actions of one agent may wait for people at a time. */
export const mostOpenApprovals = 1000;

/** Why people are asked, and on which terms. */
export interface ApprovalQuestion {
  readonly cause: Approval['cause'];
  readonly reason: string;
  readonly policyRule: string;
  /** The combined terms of the rules that ask. Undefined if only a budget asks. */
  readonly asking: Asking | undefined;
  readonly approver: Width;
}

/** Opens an approval for an operation. `announceApproval` records it in the log, after the decision. */
export function requestApproval(
  gov: Approvals,
  request: CheckRequest,
  op: Op,
  { cause, reason, policyRule, asking, approver }: ApprovalQuestion,
  now: EpochMs,
): Approval {
  const { ttlMs, notifies } = gov.approvals.settings;
  const user = userOf(request);
  const labels = labelsBorne(gov, op);
  const approval: Approval = {
    id: `apr_${gov.randomness.hex(12)}`,
    state: 'open',
    agent: op.owner.record.id,
    opId: op.opId,
    actionType: request.action.type,
    resource: op.resource,
    coverDigest: gov.sha256(coverOf(request.action, user, op.delegators)),
    covers: coverWords(request.action, user),
    summary: op.summary,
    runId: op.runId,
    user: user === null ? null : keptUser(user),
    action: describeAction(request, gov.sha256),
    digest: boundDigest(op),
    policyRule,
    rules: asking?.rules ?? [],
    isGrantable: asking?.grants ?? false,
    allowsSelf: asking?.self ?? true,
    ...(asking?.by === undefined ? {} : { by: asking.by }),
    ...(asking?.notUser === undefined ? {} : { notUser: asking.notUser }),
    policyVersion: gov.policies.version,
    reason,
    cause,
    approver,
    costMicros: op.costMicros,
    requestedAt: now,
    expiresAt: now + waitOf(asking, ttlMs),
    required: asking?.count ?? 1,
    verdicts: [],
    decidedAt: null,
    grantId: null,
    signalSequence: null,
    notices: notifies ? ['requested'] : [],
    ...(labels.length === 0 ? {} : { labels }),
  };
  saveApproval(gov, approval);
  return approval;
}

function describeApprovers({ roles, emails }: ApproverTerms): Readonly<Record<string, Json>> {
  return { ...(emails === undefined ? {} : { emails }), ...(roles === undefined ? {} : { roles }) };
}

/** Announces an approval in the log and to live views. */
export function announceApproval(gov: Approvals, approval: Approval): void {
  const { id, requestedAt, expiresAt, required, costMicros, digest, cause, reason, rules, isGrantable, user } =
    approval;
  const { by, notUser } = approval;
  gov.journal.record(
    draftOf({
      ...entryOrigin(gov, approval, requestedAt),
      eventType: 'ApprovalRequested',
      actor: system,
      reason,
      payload: canonicalJson({
        approval_id: id,
        ...(by === undefined ? {} : { by: by.map(describeApprovers) }),
        cause,
        cost_micros: costMicros,
        digest,
        expires_at: timestamp(expiresAt),
        grantable: isGrantable,
        ...(notUser === undefined ? {} : { not_user: true }),
        required,
        rules: [...rules],
        ...(user === null ? {} : { user: { ...user } }),
      }),
      ...(user === null ? {} : { user }),
    }),
  );
  gov.journal.apply(approvalEvent(approval, 'requested', requestedAt));
}

import { actionTitle } from '@reeve/contract/action-title';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Approval, ReeveError, StandingGrant } from '@reeve/core';
import { approversWords, grantStateOf, isSelfApproved, timestamp, usdOfMicros } from '@reeve/core';
import { timeOrNull } from './present.ts';
import { agentIdJson } from './present-op.ts';

/** Approvals and grants on the wire. */

export type ApprovalJson = RouteOutput<Routes['getApproval']>;
type GrantJson = RouteOutput<Routes['revokeGrant']>;

/** Without a caller, nothing is said about a verdict of it. */
export function approvalJson(approval: Approval): ApprovalJson {
  const action = JSON.parse(approval.action) as ApprovalJson['action'];
  return {
    id: approval.id,
    state: approval.state,
    op_id: approval.opId,
    agent: agentIdJson(approval.agent),
    title: actionTitle(action),
    action_type: approval.actionType,
    resource: approval.resource,
    summary: approval.summary,
    run_id: approval.runId,
    user: approval.user === null ? null : { ...approval.user },
    action,
    digest: approval.digest,
    policy_rule: approval.policyRule,
    rules: [...approval.rules],
    grantable: approval.isGrantable,
    approvers: approversJson(approval),
    policy_version: approval.policyVersion,
    reason: approval.reason,
    cost_micros: approval.costMicros,
    cost_usd: usdOfMicros(approval.costMicros),
    requested_at: timestamp(approval.requestedAt),
    expires_at: timestamp(approval.expiresAt),
    required: approval.required,
    self_approved: isSelfApproved(approval.verdicts),
    verdicts: approval.verdicts.map(({ verdict, actor, isSelfApproved: isOwn, reason, at }) => ({
      verdict,
      actor,
      self_approved: isOwn,
      reason,
      at: timestamp(at),
    })),
    decided_at: timeOrNull(approval.decidedAt),
    grant_id: approval.grantId,
  };
}

/** For a caller: why its verdict would be refused. */
export function approvalJsonFor(approval: Approval, refusal: ReeveError | undefined): ApprovalJson {
  return {
    ...approvalJson(approval),
    refusal: refusal === undefined ? null : { code: refusal.code, detail: refusal.message },
  };
}

function approversJson(approval: Approval): ApprovalJson['approvers'] {
  return {
    by: (approval.by ?? []).map(({ roles, emails }) => ({
      ...(roles === undefined ? {} : { roles: [...roles] }),
      ...(emails === undefined ? {} : { emails: [...emails] }),
    })),
    not_user: approval.notUser ?? false,
    words: approversWords(approval),
  };
}

export function grantJson(grant: StandingGrant, now: number): GrantJson {
  return {
    id: grant.id,
    state: grantStateOf(grant, now),
    approval_id: grant.approvalId,
    agent: agentIdJson(grant.agent),
    policy_rule: grant.policyRule,
    rules: [...grant.rules],
    action_type: grant.actionType,
    resource: grant.resource,
    covers: grant.covers,
    reach: grant.reach,
    run_id: grant.runId,
    granted_at: timestamp(grant.grantedAt),
    granted_by: grant.grantedBy,
    reason: grant.reason,
    expires_at: timestamp(grant.expiresAt),
    uses: grant.uses,
    last_used_at: timeOrNull(grant.lastUsedAt),
    revoked_at: timeOrNull(grant.revokedAt),
  };
}

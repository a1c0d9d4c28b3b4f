import { isKey } from '../access/callers.ts';
import type { Principal } from '../access/principal.ts';
import type { Approval, GrantWish } from '../approvals/approval.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { execute } from '../commands.ts';
import type { AckRequest } from '../control/acknowledge-control.ts';
import type { ControlledOp } from '../control/control-op.ts';
import type { ScopeRequest } from '../control/control-scope.ts';
import type { ControlResult } from '../control/bulk-control.ts';
import type { SuspendScope } from '../control/suspend-scope.ts';
import type { Governance } from '../governance.ts';
import type { AgentId } from '../kernel/ids.ts';
import { opPath } from '../kernel/ids.ts';
import type { Completion, CompleteRequest } from '../ops/complete-op.ts';
import type { Op, OpRecord } from '../ops/op.ts';
import type { ControlAction } from '../ops/receipt.ts';
import type { RegisteredOp, RegisterOp } from '../ops/register-op.ts';
import type { DelegateRequest, GrantedDelegation } from '../tenancy/delegate-agent.ts';
import type { DeregisterRequest } from '../tenancy/deregister-agent.ts';
import type { RegisterRequest, Registration } from '../tenancy/register-agent.ts';
import type { ScopeSuspension } from '../tenancy/scope-suspensions.ts';
import { operatorKey } from './requests.ts';

/** Commands as calls, for tests that give many of them. */

/** The same caller. If it calls by a key that nobody has made, there is one from now on. */
function withKey({ keys }: Governance, by: Principal): Principal {
  const { credentialId: id, orgId, teamId } = by;
  if (isKey(by) && keys.find(id) === undefined) keys.put({ ...operatorKey, id, hash: id, orgId, teamId });
  return by;
}

export function controlOp(
  gov: Governance,
  by: Principal,
  op: Op,
  action: ControlAction,
  reason: string,
): Promise<ControlledOp> {
  return execute(gov, {
    kind: 'control_op',
    by: withKey(gov, by),
    opId: opPath(op.owner.record.id, op.opId),
    action,
    reason,
  });
}

export function completeOp(
  gov: Governance,
  by: Principal,
  op: Op,
  completion: Completion,
  reason: string,
): Promise<OpRecord> {
  return execute(gov, {
    kind: 'complete_op',
    by: withKey(gov, by),
    opId: opPath(op.owner.record.id, op.opId),
    completion,
    reason,
  });
}

export function registerOp(gov: Governance, by: Principal, request: Omit<RegisterOp, 'by'>): Promise<RegisteredOp> {
  return execute(gov, { kind: 'register_op', by: withKey(gov, by), ...request });
}

export function controlScope(
  gov: Governance,
  by: Principal,
  request: Omit<ScopeRequest, 'by'>,
): Promise<ControlResult> {
  return execute(gov, { kind: 'control_scope', by: withKey(gov, by), ...request });
}

export function suspendScope(
  gov: Governance,
  by: Principal,
  request: Partial<Omit<SuspendScope, 'by'>>,
): Promise<ScopeSuspension> {
  const usual = { orgId: undefined, teamId: undefined, action: 'pause', reason: 'an incident' } as const;
  return execute(gov, { kind: 'suspend_scope', by: withKey(gov, by), ...usual, ...request });
}

export function liftSuspension(gov: Governance, by: Principal, id: string, reason = ''): Promise<ScopeSuspension> {
  return execute(gov, { kind: 'lift_suspension', by: withKey(gov, by), id, reason });
}

export function suspendAgent(gov: Governance, by: Principal, agent: AgentId, reason: string): Promise<void> {
  return execute(gov, { kind: 'suspend_agent', by: withKey(gov, by), agent, reason });
}

export function resumeAgent(gov: Governance, by: Principal, agent: AgentId, reason: string): Promise<void> {
  return execute(gov, { kind: 'resume_agent', by: withKey(gov, by), agent, reason });
}

export function approveAction(
  gov: Governance,
  by: Principal,
  approvalId: string,
  verdict: { readonly reason: string; readonly grant: GrantWish | null },
): Promise<Approval> {
  return execute(gov, { kind: 'approve', by: withKey(gov, by), approvalId, ...verdict });
}

export function rejectAction(gov: Governance, by: Principal, approvalId: string, reason: string): Promise<Approval> {
  return execute(gov, { kind: 'reject', by: withKey(gov, by), approvalId, reason });
}

export function revokeGrant(gov: Governance, by: Principal, grantId: string, reason: string): Promise<StandingGrant> {
  return execute(gov, { kind: 'revoke_grant', by: withKey(gov, by), grantId, reason });
}

export function registerAgent(
  gov: Governance,
  by: Principal,
  request: Omit<RegisterRequest, 'by'>,
): Promise<Registration> {
  return execute(gov, { kind: 'register_agent', by: withKey(gov, by), ...request });
}

export function deregisterAgent(gov: Governance, request: DeregisterRequest): Promise<void> {
  return execute(gov, { kind: 'deregister_agent', ...request });
}

export function completeAction(gov: Governance, request: CompleteRequest): Promise<OpRecord> {
  return execute(gov, { kind: 'complete_action', ...request });
}

export function acknowledgeControl(gov: Governance, request: AckRequest): Promise<void> {
  return execute(gov, { kind: 'acknowledge_control', ...request });
}

/** What a test delegates, unless it says otherwise. */
const anything = { ttlSecs: 3600, actions: [], tools: [], maxCostMicros: null, maxChecks: null, name: '' } as const;

/** Lets a child of this id act for an agent. */
export function delegateAgent(
  gov: Governance,
  { id, token }: { readonly id: AgentId; readonly token: string },
  childId: string,
  members: Partial<DelegateRequest> = {},
): Promise<GrantedDelegation> {
  return execute(gov, { kind: 'delegate_agent', ...anything, agentId: id, token, childId, ...members });
}

export function revokeDelegation(
  gov: Governance,
  { id, token }: { readonly id: AgentId; readonly token: string },
  childId: string,
): Promise<void> {
  return execute(gov, { kind: 'revoke_delegation', agentId: id, token, childId });
}

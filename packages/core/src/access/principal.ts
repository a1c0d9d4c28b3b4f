import type { Actor } from '../audit/entry.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import type { Scope } from './scope.ts';
import { covers } from './scope.ts';

/** An authenticated caller: who it is, what it may do, and in which tenant. */
export interface Principal {
  readonly actor: Actor;
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
}

export function requireScope(principal: Principal, needed: Scope): void {
  if (covers(principal.scopes, needed)) return;
  throw new ReeveError(
    'insufficient_scope',
    `this needs the scope "${needed}"; the credential has ${principal.scopes.join(', ') || 'none'}`,
    {
      required_scope: needed,
    },
  );
}

/** Whether an agent lies within the caller's tenant. The one place that decides it. */
export function mayReach(principal: Principal, agent: AgentId): boolean {
  if (principal.orgId !== null && principal.orgId !== agent.orgId) return false;
  return principal.teamId === null || principal.teamId === agent.teamId;
}

export function requireReach(principal: Principal, agent: AgentId): void {
  if (mayReach(principal, agent)) return;
  throw new ReeveError('outside_tenant', 'the credential is bound to another tenant');
}

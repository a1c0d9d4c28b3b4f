import type { Principal } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { DomainEvent } from '../store.ts';
import type { PolicyScope } from '../policy/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { TenantScope } from '../tenancy/index.ts';
import { areRelated } from '../tenancy/index.ts';

/** Which events a stream asks for. Absent members do not narrow. */
export interface EventFilter {
  readonly types?: readonly string[] | undefined;
  readonly orgId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** The owner of an event: an agent, an org or a team. Null if the event concerns the whole gateway. */
export function agentOf(event: DomainEvent): AgentId | null {
  if (event.type === 'suspension') return tenantOf(event.suspension);
  if (event.type === 'policy') return ownerOf(event.document?.scope);
  if (event.type !== 'budget') return event.agent;
  const { tier, orgId, teamId, agentId } = event.of;
  return tier === 'global' ? null : { orgId, teamId, agentId };
}

/**
 * Whether an event is for this caller: it is within the caller's tenant and matches the filter. Events of the whole
 * gateway are for callers without a tenant.
 */
export function eventsFor(by: Principal, filter: EventFilter): (event: DomainEvent) => boolean {
  const { types, orgId, agentId } = filter;
  const wanted = types === undefined ? undefined : new Set<string>(types);
  const isUnbound = by.orgId === null && by.teamId === null;
  return (event) => {
    if (wanted !== undefined && !wanted.has(event.type)) return false;
    if (event.type === 'suspension') return isConcerned(event.suspension, by, filter);
    const agent = agentOf(event);
    if (agent === null) return isUnbound && orgId === undefined && agentId === undefined;
    return (
      mayReach(by, agent) &&
      (orgId === undefined || orgId === agent.orgId) &&
      (agentId === undefined || agentId === agent.agentId)
    );
  };
}

function tenantOf({ orgId, teamId }: TenantScope): AgentId | null {
  return orgId === null ? null : { orgId, teamId: teamId ?? '', agentId: '' };
}

/** A suspension is told to everybody whom it holds. */
function isConcerned(suspension: TenantScope, by: Principal, { orgId, agentId }: EventFilter): boolean {
  const asked = { orgId: orgId ?? null, teamId: null };
  return agentId === undefined && areRelated(suspension, by) && areRelated(suspension, asked);
}

/** The owner of documents with this scope; null if everybody. */
function ownerOf(scope: PolicyScope | undefined): AgentId | null {
  return scope === undefined || scope.tier === 'global' ? null : { teamId: '', agentId: '', ...scope };
}

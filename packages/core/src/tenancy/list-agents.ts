import type { Principal } from '../access/principal.ts';
import { narrowedTo } from '../access/principal.ts';
import type { Agents } from './tenancy.ts';
import type { Agent } from './agent.ts';
import type { TenantFilter } from './topology.ts';
import { topologyStats, visibleAgents } from './topology.ts';

export interface AgentFilter extends TenantFilter {
  readonly status?: 'active' | 'suspended' | undefined;
}

export interface AgentPage {
  readonly agents: readonly Agent[];
  /** The ordinal after which the next page starts; null where there is none. */
  readonly next: number | null;
  readonly total: number;
}

/** The agents that the caller may see, in the order in which they became known. */
export function listAgents(
  gov: Agents,
  by: Principal,
  filter: AgentFilter,
  page: { readonly after: number; readonly limit: number },
): AgentPage {
  const stats = topologyStats(gov, by, filter);
  const total = { active: stats.agents - stats.suspended, suspended: stats.suspended, all: stats.agents }[
    filter.status ?? 'all'
  ];
  const agents: Agent[] = [];
  for (const agent of inOrder(gov, by, filter)) {
    if (agent.ordinal <= page.after || !hasStatus(agent, filter.status)) continue;
    agents.push(agent);
    if (agents.length > page.limit) break;
  }
  const shown = agents.slice(0, page.limit);
  return { agents: shown, next: agents.length > shown.length ? (shown.at(-1)?.ordinal ?? null) : null, total };
}

/** The whole directory is in order already; an org is sorted, being one of many. */
function inOrder(gov: Agents, by: Principal, filter: AgentFilter): Iterable<Agent> {
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return [];
  if (within.orgId === undefined && within.teamId === undefined) return gov.directory.registered();
  return [...visibleAgents(gov, by, filter)].sort((a, b) => a.ordinal - b.ordinal);
}

function hasStatus(agent: Agent, status: AgentFilter['status']): boolean {
  return status === undefined || (agent.record.suspension === null) === (status === 'active');
}

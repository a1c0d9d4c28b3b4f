import type { Principal } from '../access/index.ts';
import { mayReach, narrowedTo, requireScope } from '../access/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { OrgIndex, Tally } from './org-index.ts';
import { count, emptyTally } from './org-index.ts';
import { findAgent, isSuspended } from './identify.ts';
import type { Agents } from './tenancy.ts';

export interface TenantFilter {
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
}

/** The agents that the caller may see, org by org and team by team, from the directory's indexes. */
export function* visibleAgents(gov: Agents, by: Principal, filter: TenantFilter): Generator<Agent> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return;
  const orgIds = within.orgId === undefined ? gov.directory.orgs().keys() : [within.orgId];
  for (const orgId of orgIds) {
    if (within.teamId === undefined) yield* gov.directory.inOrg(orgId);
    else yield* gov.directory.inTeam(orgId, within.teamId);
  }
}

/** The agents that have left, and are remembered, of those that the caller may see. */
export function* visibleLeft(gov: Agents, by: Principal, filter: TenantFilter): Generator<Agent> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return;
  const { orgId, teamId } = within;
  for (const agent of gov.directory.left(orgId)) {
    if ((teamId ?? agent.record.id.teamId) === agent.record.id.teamId) yield agent;
  }
}

export interface Tree {
  readonly agent: Agent;
  readonly children: readonly Tree[];
}

/** An agent and everything below it that the caller may see. */
export function treeUnder(gov: Agents, by: Principal, id: AgentId, filter: TenantFilter): Tree {
  return treeOf(gov, by, findWithin(gov, by, id, filter));
}

/** An agent and those above it, root first, as far as the caller may see. */
export function lineageOf(gov: Agents, by: Principal, id: AgentId, filter: TenantFilter): Agent[] {
  const line: Agent[] = [];
  let agent: Agent | undefined = findWithin(gov, by, id, filter);
  while (agent !== undefined && isRegistered(agent) && mayReach(by, agent.record.id)) {
    line.unshift(agent);
    agent = gov.directory.parentOf(agent);
  }
  return line;
}

export function teamOf(
  gov: Agents,
  by: Principal,
  team: { orgId: string; teamId: string },
  filter: TenantFilter,
): Agent[] {
  requireScope(by, 'read');
  const visible = mayReach(by, team) && fits(team, filter);
  const agents = visible ? [...gov.directory.inTeam(team.orgId, team.teamId)] : [];
  if (agents.length > 0) return agents;
  throw new ReeveError('team_not_found', `there is no team "${team.orgId}/${team.teamId}" with agents`);
}

export interface TopologyStats extends Tally {
  readonly orgs: number;
  readonly teams: number;
}

/** Counts of what the caller may see: from the tallies of whole orgs, or counted if the caller sees one team only. */
export function topologyStats(gov: Agents, by: Principal, filter: TenantFilter): TopologyStats {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  const total = emptyTally();
  if (within === 'nothing') return { ...total, orgs: 0, teams: 0 };
  if (within.teamId !== undefined) {
    for (const agent of visibleAgents(gov, by, filter)) {
      count(total, agent, 1);
      if (isHeldOnly(gov, agent)) total.suspended++;
    }
    const some = total.agents > 0 ? 1 : 0;
    return { ...total, orgs: some, teams: some };
  }
  let teams = 0;
  let orgs = 0;
  for (const [orgId, org] of gov.directory.orgs()) {
    if (within.orgId !== undefined && within.orgId !== orgId) continue;
    add(total, org.tally);
    total.suspended += heldIn(gov, orgId, org);
    teams += org.teams.size;
    orgs++;
  }
  return { ...total, orgs, teams };
}

function treeOf(gov: Agents, by: Principal, agent: Agent): Tree {
  const below = [...gov.directory.childrenOf(agent)].filter(
    (child) => isRegistered(child) && mayReach(by, child.record.id),
  );
  return { agent, children: below.map((child) => treeOf(gov, by, child)) };
}

function findWithin(gov: Agents, by: Principal, id: AgentId, filter: TenantFilter): Agent {
  requireScope(by, 'read');
  const agent = findAgent(gov, by, id);
  if (fits(id, filter)) return agent;
  throw new ReeveError('agent_not_found', 'there is no such agent in that org');
}

function fits(id: { readonly orgId: string }, filter: TenantFilter): boolean {
  return filter.orgId === undefined || filter.orgId === id.orgId;
}

function add(total: Tally, tally: Tally): void {
  total.agents += tally.agents;
  total.roots += tally.roots;
  total.suspended += tally.suspended;
  for (const [depth, agents] of tally.byDepth) total.byDepth.set(depth, (total.byDepth.get(depth) ?? 0) + agents);
}

export interface AgentFilter extends TenantFilter {
  readonly status?: 'active' | 'suspended' | undefined;
}

export interface AgentPage {
  readonly agents: readonly Agent[];
  /** The place after which the next page starts; null if there is none. */
  readonly next: AgentPlace | null;
  readonly total: number;
  /** The place after the first so many agents of the page. */
  readonly placeAfter: (count: number) => AgentPlace | undefined;
}

/** The order in which an agent became known, or its name if several gateways list it. */
export type AgentPlace = number | string;

/**
 * The agents that the caller may see, in the order in which they became known. Several gateways know them in different
 * orders, and list them by name.
 */
export function listAgents(
  gov: Agents,
  by: Principal,
  filter: AgentFilter,
  page: { readonly after?: AgentPlace | undefined; readonly limit: number },
): AgentPage {
  const stats = topologyStats(gov, by, filter);
  const total = { active: stats.agents - stats.suspended, suspended: stats.suspended, all: stats.agents }[
    filter.status ?? 'all'
  ];
  const placeOf = (agent: Agent): AgentPlace => (gov.directory.isShared ? agent.key : agent.ordinal);
  // A place of the other kind was given before the gateway was started otherwise.
  const isGiven = typeof page.after === (gov.directory.isShared ? 'string' : 'number');
  const after = isGiven ? page.after : undefined;
  const agents: Agent[] = [];
  for (const agent of inOrder(gov, by, filter)) {
    if ((after !== undefined && placeOf(agent) <= after) || !hasStatus(gov, agent, filter.status)) continue;
    agents.push(agent);
    if (agents.length > page.limit) break;
  }
  const shown = agents.slice(0, page.limit);
  const placeAfter = (count: number) => shown.slice(0, count).map(placeOf).at(-1);
  return {
    agents: shown,
    next: agents.length > shown.length ? (placeAfter(shown.length) ?? null) : null,
    total,
    placeAfter,
  };
}

/** The whole directory is in order already. One org is small enough to sort. */
function inOrder(gov: Agents, by: Principal, filter: AgentFilter): Iterable<Agent> {
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return [];
  if (gov.directory.isShared) return [...visibleAgents(gov, by, filter)].sort((a, b) => (a.key < b.key ? -1 : 1));
  if (within.orgId === undefined && within.teamId === undefined) return gov.directory.registered();
  return [...visibleAgents(gov, by, filter)].sort((a, b) => a.ordinal - b.ordinal);
}

/** How many agents of an org are suspended by their scope alone. */
function heldIn(gov: Agents, orgId: string, { tally, teams }: OrgIndex): number {
  const { suspensions } = gov.directory;
  if (suspensions.overOrg(orgId) !== undefined) return tally.agents - tally.suspended;
  let held = 0;
  for (const teamId of suspensions.heldTeams(orgId)) {
    for (const agent of teams.get(teamId) ?? []) if (isHeldOnly(gov, agent)) held++;
  }
  return held;
}

function isHeldOnly(gov: Agents, agent: Agent): boolean {
  return agent.record.suspension === null && isSuspended(gov, agent);
}

function hasStatus(gov: Agents, agent: Agent, status: AgentFilter['status']): boolean {
  return status === undefined || isSuspended(gov, agent) === (status === 'suspended');
}

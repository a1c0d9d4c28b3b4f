import { agentPath, pathPart } from '@reeve/contract/names';
import type { Condition, TopologyAgent } from './topology-model.ts';
import { conditionOf, order, sumUsd, teamPath } from './topology-model.ts';

/** The totals of the agents of an org or team. */
export interface Summary {
  readonly agents: number;
  readonly inFlight: number;
  readonly conditions: Readonly<Record<Condition, number>>;
  /** Null if it is unknown for any of them. */
  readonly spentUsd: string | null;
}

export interface TeamGroup extends Summary {
  /** `org/team`. */
  readonly key: string;
  readonly orgId: string;
  readonly teamId: string;
  readonly members: readonly TopologyAgent[];
}

export interface OrgGroup extends Summary {
  readonly key: string;
  readonly orgId: string;
  readonly teams: readonly TeamGroup[];
}

/** The agents by org and team, sorted by name. */
export function groupAgents(agents: readonly TopologyAgent[], now: number): OrgGroup[] {
  const byOrg = Map.groupBy(agents, (agent) => pathPart(agent.org_id));
  return sorted(byOrg).map(([key, ofOrg]) => ({
    key,
    orgId: ofOrg[0]?.org_id ?? '',
    teams: sorted(Map.groupBy(ofOrg, teamPath)).map(([team, members]) => ({
      key: team,
      orgId: members[0]?.org_id ?? '',
      teamId: members[0]?.team_id ?? '',
      members: members.toSorted((a, b) => order(a.agent_id, b.agent_id)),
      ...summaryOf(members, now),
    })),
    ...summaryOf(ofOrg, now),
  }));
}

export function summaryOf(agents: readonly TopologyAgent[], now: number): Summary {
  const conditions = { active: 0, idle: 0, silent: 0, suspended: 0 };
  let inFlight = 0;
  for (const agent of agents) {
    conditions[conditionOf(agent, now)] += 1;
    inFlight += agent.in_flight;
  }
  return {
    agents: agents.length,
    inFlight,
    conditions,
    spentUsd: sumUsd(agents.map((agent) => agent.spent_today_usd)),
  };
}

/** Below this many agents everything starts open. */
const fewAgents = 40;

/** What is open initially: everything if it is little, else the only org there is. */
export function openAtFirst(orgs: readonly OrgGroup[]): ReadonlySet<string> {
  const agents = orgs.reduce((sum, org) => sum + org.agents, 0);
  if (agents <= fewAgents) return new Set(everyKey(orgs));
  return new Set(orgs.length === 1 ? orgs.map((org) => org.key) : []);
}

/** The orgs and teams of a search's results: all of them, unless there are too many to look at. */
export function openForSearch(orgs: readonly OrgGroup[]): ReadonlySet<string> {
  const agents = orgs.reduce((sum, org) => sum + org.agents, 0);
  return new Set(agents <= 200 ? everyKey(orgs) : orgs.map((org) => org.key));
}

export function everyKey(orgs: readonly OrgGroup[]): string[] {
  return orgs.flatMap((org) => [org.key, ...org.teams.map((team) => team.key)]);
}

export interface LineageEdge {
  readonly id: string;
  /** Represents the parent: the agent if its team is open, else the team or org. */
  readonly source: string;
  readonly target: string;
  readonly agents: number;
}

/** Edges from parents to children, between their visible representatives. Edges with the same ends are merged. */
export function lineageEdges(orgs: readonly OrgGroup[], open: ReadonlySet<string>): LineageEdge[] {
  const standIn = new Map<string, string>();
  for (const org of orgs) {
    for (const team of org.teams) {
      for (const agent of team.members) {
        const path = agentPath(agent);
        standIn.set(path, !open.has(org.key) ? org.key : open.has(team.key) ? path : team.key);
      }
    }
  }
  const edges = new Map<string, LineageEdge>();
  for (const { members } of orgs.flatMap((org) => org.teams)) {
    for (const agent of members) {
      const source = agent.parent === null ? undefined : standIn.get(agentPath(agent.parent));
      const target = standIn.get(agentPath(agent));
      if (source === undefined || target === undefined || source === target) continue;
      const id = `${source}>${target}`;
      edges.set(id, { id, source, target, agents: (edges.get(id)?.agents ?? 0) + 1 });
    }
  }
  return [...edges.values()];
}

function sorted<Value>(groups: ReadonlyMap<string, Value>): [string, Value][] {
  // Groups without an org come last.
  return [...groups].sort(([a], [b]) => Number(a.startsWith('-')) - Number(b.startsWith('-')) || order(a, b));
}

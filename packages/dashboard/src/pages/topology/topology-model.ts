import { agentPath, idOfPart, pathPart } from '@reeve/contract/names';
import type { Answer } from '../../api/send.ts';
import { microsToUsd, usdToMicros } from '../../api/format.ts';

export type Overview = Answer<'topologyOverview'>;
export type TopologyAgent = Overview['agents'][number];

export interface AgentIds {
  readonly org_id: string;
  readonly team_id: string;
  readonly agent_id: string;
}

/**
 * What an operator wants to know first: whether the agent may work, and whether it is live. One that says nothing is
 * silent while it has work in flight, and else merely idle.
 */
export type Condition = 'active' | 'idle' | 'silent' | 'suspended';

/** After this long nothing was heard of an agent: ten of its expected heartbeats. */
export const silentAfterMs = 5 * 60_000;

export function conditionOf(
  agent: Pick<TopologyAgent, 'status' | 'last_seen_at' | 'in_flight'>,
  now: number,
): Condition {
  if (agent.status === 'suspended') return 'suspended';
  if (now - Date.parse(agent.last_seen_at) <= silentAfterMs) return 'active';
  return agent.in_flight > 0 ? 'silent' : 'idle';
}

export function teamPath({ org_id, team_id }: Pick<AgentIds, 'org_id' | 'team_id'>): string {
  return `${pathPart(org_id)}/${pathPart(team_id)}`;
}

/** The agent that a path names. Undefined if the path is invalid. */
export function parseAgentPath(path: string): AgentIds | undefined {
  const parts = path.split('/');
  const [org = '', team = '', agent = ''] = parts;
  if (parts.length !== 3 || [org, team, agent].includes('')) return undefined;
  return { org_id: idOfPart(org), team_id: idOfPart(team), agent_id: agent };
}

export interface TopologyFilter {
  /** `-` for agents without one. */
  readonly org?: string | undefined;
  readonly team?: string | undefined;
  readonly status?: Condition | undefined;
  /** Only agents that never asked for this. */
  readonly uncovered?: TopologyAgent['uncovered'][number] | undefined;
  /** Words that must all occur in the path, name or framework. */
  readonly q?: string | undefined;
}

export function filterAgents(
  agents: readonly TopologyAgent[],
  { org, team, status, uncovered, q = '' }: TopologyFilter,
  now: number,
): readonly TopologyAgent[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const isNarrowed = [org, team, status, uncovered].some((each) => each !== undefined) || words.length > 0;
  if (!isNarrowed) return agents;
  return agents.filter((agent) => {
    if (org !== undefined && pathPart(agent.org_id) !== org) return false;
    if (team !== undefined && pathPart(agent.team_id) !== team) return false;
    if (status !== undefined && conditionOf(agent, now) !== status) return false;
    if (uncovered !== undefined && !agent.uncovered.includes(uncovered)) return false;
    const text = `${agentPath(agent)} ${agent.name} ${agent.framework}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A sum in micro-dollars. Null if one part is unknown, because the rest would not be the sum. */
export function sumUsd(amounts: Iterable<string | null>): string | null {
  let sum = 0n;
  for (const amount of amounts) {
    const micros = amount === null ? undefined : usdToMicros(amount);
    if (micros === undefined) return null;
    sum += micros;
  }
  return microsToUsd(sum);
}

export type SortColumn = 'agent' | 'org' | 'team' | 'status' | 'in_flight' | 'spent' | 'last_seen';

/** Sorted by a column, then by path. Unknown spend comes last in both directions. */
export function sortAgents(
  agents: readonly TopologyAgent[],
  column: SortColumn,
  isDescending: boolean,
  now: number,
): TopologyAgent[] {
  const sign = isDescending ? -1 : 1;
  const keyed = agents.map((agent) => ({ agent, key: sortKey(agent, column, now), path: agentPath(agent) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null)
      return Number(a.key === null) - Number(b.key === null) || order(a.path, b.path);
    return sign * order(a.key, b.key) || order(a.path, b.path);
  });
  return keyed.map(({ agent }) => agent);
}

const conditionRank: Readonly<Record<Condition, number>> = { active: 0, idle: 1, silent: 2, suspended: 3 };

function sortKey(agent: TopologyAgent, column: SortColumn, now: number): string | number | bigint | null {
  if (column === 'agent') return agent.agent_id;
  if (column === 'org') return agent.org_id;
  if (column === 'team') return teamPath(agent);
  if (column === 'status') return conditionRank[conditionOf(agent, now)];
  if (column === 'in_flight') return agent.in_flight;
  if (column === 'last_seen') return Date.parse(agent.last_seen_at);
  return agent.spent_today_usd === null ? null : (usdToMicros(agent.spent_today_usd) ?? null);
}

/** Sorts names naturally: `bot-9` before `bot-10`. */
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

export function order<Key extends string | number | bigint>(a: Key, b: Key): number {
  if (typeof a === 'string' && typeof b === 'string') return names.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { RouteOutput, Routes } from '@reeve/contract/http';
import { agentText } from '../command-line/agent-path.ts';

export type TopologyAgent = RouteOutput<Routes['topologyOverview']>['agents'][number];

/** An agent in a tree, with the branch that leads to it. */
export interface Placed {
  readonly agent: TopologyAgent;
  readonly branch: string;
}

/** Children below their parents. An agent whose parent is not visible stands as a root. */
export function placed(agents: readonly TopologyAgent[]): Placed[] {
  const known = new Set(agents.map(agentText));
  const children = Map.groupBy(agents, ({ parent }) => {
    const above = parent === null || parent === undefined ? '' : agentText(parent);
    return known.has(above) ? above : '';
  });
  const rows: Placed[] = [];
  const waiting = (children.get('') ?? []).map((agent) => ({ agent, level: 0 })).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { agent, level } = next;
    rows.push({ agent, branch: level === 0 ? '' : `${'  '.repeat(level - 1)}└ ` });
    const below = (children.get(agentText(agent)) ?? []).map((child) => ({ agent: child, level: level + 1 }));
    waiting.push(...below.toReversed());
  }
  return rows;
}

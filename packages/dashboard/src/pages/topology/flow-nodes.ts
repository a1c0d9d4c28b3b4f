import { agentPath } from '@reeve/contract/names';
import type { Edge, Node } from '@xyflow/react';
import { Position } from '@xyflow/react';
import { edgeWords } from './delegation-words.ts';
import { lineageEdges } from './topology-groups.ts';
import type { OrgGroup, TeamGroup } from './topology-groups.ts';
import type { Rectangle } from './topology-layout.ts';
import type { TopologyAgent } from './topology-model.ts';
import type { Layout } from './use-layout.ts';

export type GroupNode = Node<
  { readonly group: OrgGroup | TeamGroup; readonly isOpen: boolean; readonly place: Rectangle },
  'box'
>;
export type AgentNode = Node<{ readonly agent: TopologyAgent; readonly place: Rectangle }, 'agent'>;
export type TopologyNode = GroupNode | AgentNode;

/** Unchanged agents keep the same object, so they are not redrawn. */
const drawn = new WeakMap<TopologyAgent, AgentNode>();

/** Everything that is visible and has a place. */
export function flowNodes(orgs: readonly OrgGroup[], { open, places }: Layout): Map<string, TopologyNode> {
  const nodes = new Map<string, TopologyNode>();
  const addGroup = (group: OrgGroup | TeamGroup, zIndex: number) => {
    const place = places.get(group.key);
    const isOpen = open.has(group.key);
    if (place !== undefined) {
      nodes.set(group.key, { ...frame(group.key, place), zIndex, type: 'box', data: { group, isOpen, place } });
    }
    return isOpen;
  };
  const addAgent = (agent: TopologyAgent) => {
    const id = agentPath(agent);
    const place = places.get(id);
    if (place === undefined) return;
    const known = drawn.get(agent);
    const node: AgentNode =
      known?.data.place === place ? known : { ...frame(id, place), zIndex: 3, type: 'agent', data: { agent, place } };
    drawn.set(agent, node);
    nodes.set(id, node);
  };
  for (const org of orgs) {
    if (!addGroup(org, 0)) continue;
    for (const team of org.teams) if (addGroup(team, 1)) team.members.forEach(addAgent);
  }
  return nodes;
}

export function flowEdges(
  orgs: readonly OrgGroup[],
  open: ReadonlySet<string>,
  nodes: ReadonlyMap<string, TopologyNode>,
): Edge[] {
  return lineageEdges(orgs, open)
    .filter(({ source, target }) => nodes.has(source) && nodes.has(target))
    .map(({ id, source, target, agents }) => ({
      id,
      source,
      target,
      zIndex: 2,
      ...(agents === 1 ? delegationEdge(nodes.get(target)) : { label: String(agents) }),
    }));
}

/** Whoever acts for its parent has an edge of its own look, with the limits. */
function delegationEdge(target: TopologyNode | undefined): Pick<Edge, 'label' | 'style'> {
  const delegation = target?.type === 'agent' ? target.data.agent.delegation : null;
  return delegation === null ? {} : { label: edgeWords(delegation), style: { strokeDasharray: '5 3' } };
}

/** Includes the size and the ends of edges, so that nothing has to be measured first. */
function frame(id: string, { x, y, width, height }: Rectangle) {
  const end = { width: 1, height: 1, y: height / 2 };
  return {
    id,
    position: { x, y },
    width,
    height,
    measured: { width, height },
    handles: [
      { ...end, type: 'target' as const, position: Position.Left, x: 0 },
      { ...end, type: 'source' as const, position: Position.Right, x: width },
    ],
  };
}

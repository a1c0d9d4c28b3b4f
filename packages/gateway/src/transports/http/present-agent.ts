import type { RouteOutput, Routes } from '@reeve/contract/http';
import { entrances } from '@reeve/contract/names';
import type { Agent, AgentUsage, Operations, Tree } from '@reeve/core';
import { inFlight, isSuspended, nameOfScope, timestamp, uncoveredBy, unused, usdOfMicros } from '@reeve/core';

type AgentJson = RouteOutput<Routes['getAgent']>;
export type TopologyAgentJson = RouteOutput<Routes['topologyTeam']>['items'][number];
type TreeJson = RouteOutput<Routes['topologyTree']>;

/** Agents on the wire, with what they have spent. */
export function agentPresenter({ ledger, ops, directory }: Pick<Operations, 'ledger' | 'ops' | 'directory'>) {
  const suspendedBy = ({ record }: Agent): AgentJson['suspended_by'] => {
    if (record.suspension !== null) return 'agent';
    const hold = directory.suspensions.over(record.id);
    return hold === undefined ? null : nameOfScope(hold.suspension);
  };
  const delegationJson = (agent: Agent): AgentJson['delegation'] => {
    const delegation = directory.delegations.of(agent);
    if (delegation === undefined) return null;
    const { id, by, expiresAt, actions, tools, maxCostMicros, settledMicros, maxChecks, checks } = delegation;
    return {
      by: { org_id: id.orgId, team_id: id.teamId, agent_id: by },
      expires_at: timestamp(expiresAt),
      actions: [...actions],
      tools: [...tools],
      max_cost_usd: maxCostMicros === null ? null : usdOfMicros(maxCostMicros),
      spent_usd: usdOfMicros(settledMicros),
      max_checks: maxChecks,
      checks,
    };
  };
  const topologyAgentJson = (agent: Agent): TopologyAgentJson => {
    const { record, lineage } = agent;
    const { id, parent } = record;
    const usage = usageOf(agent);
    return {
      org_id: id.orgId,
      team_id: id.teamId,
      agent_id: id.agentId,
      name: record.name,
      framework: record.framework,
      status: isSuspended({ directory }, agent) ? 'suspended' : 'active',
      suspended_by: suspendedBy(agent),
      parent: parent === null ? null : { org_id: parent.orgId, team_id: parent.teamId, agent_id: parent.agentId },
      delegation: delegationJson(agent),
      depth: lineage.depth,
      last_seen_at: timestamp(agent.lastSeenAt),
      in_flight: inFlight({ ops }, agent),
      spent_today_usd: usdOfMicros(ledger.read({ tier: 'agent', ...id }).spent.day),
      doors: doorsOf(usage).map(({ door, first_used_at, last_used_at }) => ({ door, first_used_at, last_used_at })),
      uncovered: [...uncoveredBy(usage)],
    };
  };
  const agentJson = (agent: Agent): AgentJson => {
    const { record } = agent;
    return {
      ...topologyAgentJson(agent),
      version: record.version,
      suspended_reason: record.suspension?.reason ?? directory.suspensions.over(record.id)?.suspension.reason ?? null,
      metadata: { ...record.metadata },
      tool_names: [...record.toolNames],
      registered_at: timestamp(record.registeredAt),
      doors: doorsOf(usageOf(agent)),
    };
  };
  const treeJson = ({ agent, children }: Tree): TreeJson => ({
    agent: topologyAgentJson(agent),
    children: children.map(treeJson),
  });
  return { topologyAgentJson, agentJson, treeJson, delegationJson };
}

function usageOf({ coverage }: Agent): AgentUsage {
  return coverage?.usage ?? unused;
}

function doorsOf({ doors }: AgentUsage): AgentJson['doors'] {
  return entrances.flatMap((door) => {
    const use = doors[door];
    if (use === undefined) return [];
    const { firstAt, lastAt, names } = use;
    return [{ door, first_used_at: timestamp(firstAt), last_used_at: timestamp(lastAt), names: [...names] }];
  });
}

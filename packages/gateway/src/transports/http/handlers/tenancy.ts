import type { AgentId, Execute, Operations } from '@reeve/core';
import {
  findAgent,
  lineageOf,
  listAgents,
  ReeveError,
  teamOf,
  topologyStats,
  treeUnder,
  visibleAgents,
} from '@reeve/core';
import { agentPlaceOf, cursorOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import type { TopologyAgentJson } from '../present-agent.ts';
import { agentPresenter } from '../present-agent.ts';
import { idOfPart } from '@reeve/contract/names';

type TenancyRoutes =
  | 'topologyOverview'
  | 'topologyTree'
  | 'topologyTeam'
  | 'topologyLineage'
  | 'topologyStats'
  | 'listAgents'
  | 'registerAgent'
  | 'getAgent'
  | 'suspendAgent'
  | 'resumeAgent'
  | 'revokeDelegation';

export function tenancyHandlers(operations: Operations, execute: Execute): Pick<Handlers, TenancyRoutes> {
  const { topologyAgentJson, agentJson, treeJson, delegationJson } = agentPresenter(operations);
  return {
    topologyOverview: ({ query }, { principal }) =>
      overview([...visibleAgents(operations, principal, { orgId: query.org_id })].map(topologyAgentJson)),
    topologyTree: ({ params, query }, { principal }) =>
      treeJson(treeUnder(operations, principal, idOf(params), { orgId: query.org_id })),
    topologyTeam: ({ params, query }, { principal }) => ({
      items: teamOf(operations, principal, teamIdOf(params), { orgId: query.org_id }).map(topologyAgentJson),
    }),
    topologyLineage: ({ params, query }, { principal }) => ({
      items: lineageOf(operations, principal, idOf(params), { orgId: query.org_id }).map(topologyAgentJson),
    }),
    topologyStats: ({ query }, { principal }) => {
      const { agents, roots, suspended, byDepth, orgs, teams } = topologyStats(operations, principal, {
        orgId: query.org_id,
      });
      const by_depth = Object.fromEntries(
        [...byDepth].sort(([a], [b]) => a - b).map(([depth, n]) => [String(depth), n]),
      );
      return { agents, roots, by_status: { active: agents - suspended, suspended }, by_depth, orgs, teams };
    },
    listAgents: ({ query }, { principal }) => {
      const filter = { orgId: query.org_id, teamId: query.team_id, status: query.status };
      const page = { after: agentPlaceOf(query.cursor), limit: query.per_page };
      const { agents, next, total, placeAfter } = listAgents(operations, principal, filter, page);
      const items = fitting(agents, agentJson);
      const goesOn = items.length < agents.length ? (placeAfter(items.length) ?? next) : next;
      return { items, next_cursor: cursorOf(goesOn), total };
    },
    registerAgent: async ({ body }, { principal }) => {
      // A tenant's credential registers within its own binding.
      const orgId = body.org_id ?? principal.orgId ?? '';
      const teamId = body.team_id ?? principal.teamId ?? '';
      const agentId = { orgId, teamId, agentId: body.agent_id };
      const { token, created } = await execute({
        kind: 'register_agent',
        by: principal,
        agentId,
        token: '',
        name: body.name,
        framework: body.framework,
        version: '',
        parent: undefined,
        metadata: {},
        toolNames: [],
        ifRegistered: body.replace ? 'keep' : 'refuse',
      });
      return { agent: { org_id: orgId, team_id: teamId, agent_id: body.agent_id }, token, created };
    },
    getAgent: ({ params }, { principal }) => agentJson(findAgent(operations, principal, idOf(params))),
    suspendAgent: async ({ params, body }, { principal }) => {
      // Found before: the agent may leave while the command is made durable.
      const agent = findAgent(operations, principal, idOf(params));
      await execute({ kind: 'suspend_agent', by: principal, agent: agent.record.id, reason: body.reason });
      return agentJson(agent);
    },
    revokeDelegation: async ({ params, body }, { principal }) => {
      const agent = findAgent(operations, principal, idOf(params));
      const delegation = delegationJson(agent);
      const { id } = agent.record;
      await execute({ kind: 'end_delegation', by: principal, agent: id, reason: body.reason });
      if (delegation === null) throw new ReeveError('delegation_not_found', 'the agent acts for nobody');
      return { org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId, delegation };
    },
    resumeAgent: async ({ params, body }, { principal }) => {
      const agent = findAgent(operations, principal, idOf(params));
      await execute({ kind: 'resume_agent', by: principal, agent: agent.record.id, reason: body.reason });
      return agentJson(agent);
    },
  };
}

interface TeamPath {
  readonly org: string;
  readonly team: string;
}

function teamIdOf({ org, team }: TeamPath): { orgId: string; teamId: string } {
  return { orgId: idOfPart(org), teamId: idOfPart(team) };
}

function idOf(path: TeamPath & { readonly agent: string }): AgentId {
  return { ...teamIdOf(path), agentId: path.agent };
}

function overview(agents: TopologyAgentJson[]) {
  const orgs = new Map<string, { org_id: string; teams: number; agents: number; in_flight: number }>();
  const teams = new Map<string, { org_id: string; team_id: string; agents: number; in_flight: number }>();
  let total = 0;
  for (const agent of agents) {
    const { org_id, team_id, in_flight: busy } = agent;
    const org = orgs.get(org_id) ?? { org_id, teams: 0, agents: 0, in_flight: 0 };
    const known = teams.get(`${org_id}/${team_id}`);
    const team = known ?? { org_id, team_id, agents: 0, in_flight: 0 };
    if (known === undefined) org.teams++;
    for (const group of [org, team]) {
      group.agents++;
      group.in_flight += busy;
    }
    total += busy;
    orgs.set(org_id, org);
    teams.set(`${org_id}/${team_id}`, team);
  }
  return {
    orgs: [...orgs.values()],
    teams: [...teams.values()],
    agents,
    totals: { orgs: orgs.size, teams: teams.size, agents: agents.length, in_flight: total },
  };
}

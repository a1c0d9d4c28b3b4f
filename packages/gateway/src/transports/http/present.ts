import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Account, Agent, ApiKeyRecord, MadeKey, StoredEntry, Tree } from '@reeve/core';
import { inFlight, timestamp } from '@reeve/core';

/** How records of the core look on the wire. */

type AgentJson = RouteOutput<Routes['getAgent']>;
type TopologyAgentJson = RouteOutput<Routes['topologyTeam']>['items'][number];
type TreeJson = RouteOutput<Routes['topologyTree']>;
type ApiKeyJson = RouteOutput<Routes['revokeApiKey']>;

export function timeOrNull(at: number | null): string | null {
  return at === null ? null : timestamp(at);
}

export function apiKeyJson(key: ApiKeyRecord): ApiKeyJson {
  return {
    id: key.id,
    label: key.label,
    scopes: [...key.scopes],
    org_id: key.orgId,
    team_id: key.teamId,
    created_at: timestamp(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    last_used_at: timeOrNull(key.lastUsedAt),
    revoked_at: timeOrNull(key.revokedAt),
  };
}

export function madeKeyJson(made: MadeKey): RouteOutput<Routes['createApiKey']> {
  return { ...apiKeyJson(made.record), key: made.key };
}

export function topologyAgentJson(agent: Agent): TopologyAgentJson {
  const { record, lineage } = agent;
  const { parent } = record;
  return {
    org_id: record.id.orgId,
    team_id: record.id.teamId,
    agent_id: record.id.agentId,
    name: record.name,
    framework: record.framework,
    status: record.suspension === null ? 'active' : 'suspended',
    parent: parent === null ? null : { org_id: parent.orgId, team_id: parent.teamId, agent_id: parent.agentId },
    depth: lineage.depth,
    last_seen_at: timestamp(agent.lastSeenAt),
    in_flight: inFlight(agent),
    spent_today_usd: null,
  };
}

export function agentJson(agent: Agent): AgentJson {
  const { record } = agent;
  return {
    ...topologyAgentJson(agent),
    version: record.version,
    suspended_reason: record.suspension?.reason ?? null,
    metadata: { ...record.metadata },
    tool_names: [...record.toolNames],
    registered_at: timestamp(record.registeredAt),
  };
}

export function treeJson(tree: Tree): TreeJson {
  return { agent: topologyAgentJson(tree.agent), children: tree.children.map(treeJson) };
}

/** An entry with its hash, without reading and writing its text again. */
export function entryJson(entry: StoredEntry): string {
  return `${entry.canonical.slice(0, -1)},"hash":"${entry.hash}"}`;
}

export function accountJson({ id, email, name, role, status, createdAt }: Account) {
  return { id, email, name, role, status, created_at: timestamp(createdAt) };
}

export function listedAccountJson(account: Account) {
  return { ...accountJson(account), last_login_at: timeOrNull(account.lastLoginAt) };
}

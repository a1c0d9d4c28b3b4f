import type { AgentTriple } from '../ports.ts';

export interface Binding {
  readonly org_id: string | null;
  readonly team_id: string | null;
}

export interface Key extends Binding {
  readonly id: string;
  readonly key: string;
  readonly label: string;
  readonly scopes: readonly string[];
  revoked_at: string | null;
}

export interface Agent {
  readonly org_id: string;
  readonly team_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly token: string;
  status: 'active' | 'suspended';
}

export interface Op {
  readonly org_id: string;
  readonly team_id: string;
  readonly agent_id: string;
  readonly op_id: string;
  readonly run_id: string;
  state: string;
  control: { readonly id: string; readonly action: string } | null;
}

export interface Entry {
  readonly event_type: string;
  readonly lineage: { readonly org_id: string; readonly team_id: string; readonly agent_id: string };
  readonly payload: Readonly<Record<string, string>>;
}

export type Reply = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

export function problem(status: number, code: string, detail = code): [number, unknown] {
  return [status, { type: 'about:blank', title: code, status, detail, instance: '', code }];
}

export function reaches(by: Binding, record: Binding): boolean {
  if (by.org_id !== null && by.org_id !== record.org_id) return false;
  return by.team_id === null || by.team_id === record.team_id;
}

export function sameBinding(one: Binding, other: Binding): boolean {
  return one.org_id === other.org_id && one.team_id === other.team_id;
}

export function bindingOf({ orgId, teamId }: AgentTriple): Binding {
  return { org_id: orgId, team_id: teamId };
}

export function wireOf({ orgId, teamId, agentId }: AgentTriple) {
  return { org_id: orgId, team_id: teamId, agent_id: agentId };
}

export function shown(agent: Agent) {
  const { token: _, ...rest } = agent;
  return rest;
}

export function asLines(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

export function asCsv(entries: readonly Entry[]): string {
  const lines = entries.map(({ event_type, lineage, payload }) => {
    const text = JSON.stringify(payload).replaceAll('"', '""');
    return `${event_type},${lineage.org_id},${lineage.team_id},${lineage.agent_id},"${text}"\n`;
  });
  return `event_type,org_id,team_id,agent_id,payload\n${lines.join('')}`;
}

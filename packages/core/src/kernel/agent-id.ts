import { invalid } from './errors.ts';

/** The three tiers of tenancy. Org and team may be empty; the agent may not. */
export interface AgentId {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

/** An agent's registry key: ids hold no `/`, so the joined text is unambiguous. */
export type AgentKey = string & { readonly brand: 'AgentKey' };

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const idRule = '1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit';

export function isId(text: string): boolean {
  return idPattern.test(text);
}

export function agentKey(id: AgentId): AgentKey {
  return `${id.orgId}/${id.teamId}/${id.agentId}` as AgentKey;
}

/** Checks the claimed triple; `field` names it in the error. */
export function parseAgentId(id: AgentId | undefined, field = 'agent_id'): AgentId {
  if (id === undefined || id.agentId === '') throw invalid(`${field}.agent_id`, 'must not be empty');
  if (!isId(id.agentId)) throw invalid(`${field}.agent_id`, `must be ${idRule}`);
  if (id.orgId !== '' && !isId(id.orgId)) throw invalid(`${field}.org_id`, `must be empty or ${idRule}`);
  if (id.teamId !== '' && !isId(id.teamId)) throw invalid(`${field}.team_id`, `must be empty or ${idRule}`);
  return id;
}

import { UsageError } from '../cli-error.ts';

/** An agent by its three ids. Org and team may be empty. */
export interface AgentName {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

/** The form of an id, as the gateway checks it. */
const id = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Reads `org/team/agent`, with `-` for an empty org or team. `what` names the text in errors. */
export function parseAgentName(text: string, what: string): AgentName {
  const [org = '', team = '', agentId = '', ...more] = text.trim().split('/');
  const [orgId, teamId] = [org, team].map((part) => (part === '-' ? '' : part));
  const isTenant = (part: string | undefined): part is string => part === '' || (part !== undefined && id.test(part));
  if (isTenant(orgId) && isTenant(teamId) && id.test(agentId) && more.length === 0) return { orgId, teamId, agentId };
  throw new UsageError(
    `${what} must be ORG/TEAM/AGENT, with "-" for an empty org or team, and letters, digits, ".", "_" and "-", not "${text}"`,
  );
}

export function agentNameText({ orgId, teamId, agentId }: AgentName): string {
  return `${orgId === '' ? '-' : orgId}/${teamId === '' ? '-' : teamId}/${agentId}`;
}

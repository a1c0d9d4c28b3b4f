import { UsageError } from '../cli-error.ts';

/** Parses an agent as typed: `org/team/agent`, with `-` for an empty org or team. */
export function agentPath(text: string): { org: string; team: string; agent: string } {
  const [org, team, agent, ...more] = text.split('/');
  if (org !== undefined && team !== undefined && agent !== undefined && agent !== '' && more.length === 0) {
    return { org: org === '' ? '-' : org, team: team === '' ? '-' : team, agent };
  }
  throw new UsageError(`AGENT must be ORG/TEAM/AGENT, with "-" for an empty org or team, not "${text}"`);
}

export function agentText({
  org_id: org,
  team_id: team,
  agent_id: agent,
}: {
  org_id: string;
  team_id: string;
  agent_id: string;
}): string {
  return `${org === '' ? '-' : org}/${team === '' ? '-' : team}/${agent}`;
}

import type { AgentId } from './agent-id.ts';

/** Who stands above an agent, as every audit entry about it tells. */
export interface Lineage {
  readonly agent_id: string;
  readonly depth: number;
  readonly org_id: string | null;
  readonly parent_agent_id: string | null;
  readonly root_agent_id: string;
  readonly team_id: string;
}

/** What is known of one that is not registered any more. */
export function lineageOfId({ orgId, teamId, agentId }: AgentId): Lineage {
  return {
    agent_id: agentId,
    depth: 0,
    org_id: orgId === '' ? null : orgId,
    parent_agent_id: null,
    root_agent_id: agentId,
    team_id: teamId,
  };
}

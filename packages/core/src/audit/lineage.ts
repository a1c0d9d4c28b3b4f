import type { AgentId } from '../kernel/agent-id.ts';

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

/** The lineage of what concerns no agent. */
export const noLineage: Lineage = {
  agent_id: '',
  depth: 0,
  org_id: null,
  parent_agent_id: null,
  root_agent_id: '',
  team_id: '',
};

/** What concerns a credential is on record in the tenant that the credential is bound to. */
export function lineageOfBinding(bound: { readonly orgId: string | null; readonly teamId: string | null }): Lineage {
  return { ...noLineage, org_id: bound.orgId, team_id: bound.teamId ?? '' };
}

/** The identity of an agent: the three tiers of tenancy. Org and team are optional. */
export interface AgentId {
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly agentId: string;
}

export type FullAgentId = Readonly<Record<'orgId' | 'teamId' | 'agentId', string>>;

export function fullAgentId({ orgId = '', teamId = '', agentId }: AgentId): FullAgentId {
  return { orgId, teamId, agentId };
}

import type { AgentId } from '../tenancy/agent-id.ts';

export type BudgetTier = 'global' | 'org' | 'team' | 'agent';

/** Whose books: everybody's, or those of an org, a team or an agent. */
export interface TierOf {
  readonly tier: BudgetTier;
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

const nobody = { orgId: '', teamId: '', agentId: '' };

/**
 * The tiers that a charge of an agent goes to, in the order of enforcement. An agent without an org has no org tier, one
 * without a team no team tier.
 */
export function tiersOf({ orgId, teamId, agentId }: AgentId): readonly TierOf[] {
  const tiers: TierOf[] = [{ ...nobody, tier: 'global' }];
  if (orgId !== '') tiers.push({ ...nobody, tier: 'org', orgId });
  if (teamId !== '') tiers.push({ ...nobody, tier: 'team', orgId, teamId });
  tiers.push({ tier: 'agent', orgId, teamId, agentId });
  return tiers;
}

export function tierKey({ tier, orgId, teamId, agentId }: TierOf): string {
  return tier === 'global' ? 'global' : `${tier}:${orgId}/${teamId}/${agentId}`;
}

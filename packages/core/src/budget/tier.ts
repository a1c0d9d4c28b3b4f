import type { AgentId } from '../kernel/index.ts';

export type BudgetTier = 'global' | 'org' | 'team' | 'agent';

/** Whose balance it is: everybody's, or that of an org, a team or an agent. */
export interface TierOf {
  readonly tier: BudgetTier;
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

const nobody = { orgId: '', teamId: '', agentId: '' };

/** The whole gateway. */
export const everybody: TierOf = { ...nobody, tier: 'global' };

/** Every decision asks several times, with the id that the agent is registered with, so the answers are kept beside it. */
const tiersByAgent = new WeakMap<AgentId, readonly TierOf[]>();
const keys = new WeakMap<TierOf, string>();

/**
 * The tiers that an agent's charge goes to, in the order of enforcement. An agent without an org has no org tier, and
 * an agent without a team has no team tier.
 */
export function tiersOf(agent: AgentId): readonly TierOf[] {
  const known = tiersByAgent.get(agent);
  if (known !== undefined) return known;
  const { orgId, teamId, agentId } = agent;
  const tiers: TierOf[] = [everybody];
  if (orgId !== '') tiers.push({ ...nobody, tier: 'org', orgId });
  if (teamId !== '') tiers.push({ ...nobody, tier: 'team', orgId, teamId });
  tiers.push({ tier: 'agent', orgId, teamId, agentId });
  for (const of of tiers) keys.set(of, writeKey(of));
  tiersByAgent.set(agent, tiers);
  return tiers;
}

/** A tier and all above it, in the order of enforcement. */
export function tiersUpFrom(of: TierOf): readonly TierOf[] {
  const tiers = tiersOf(of);
  return tiers.slice(0, tiers.findIndex(({ tier }) => tier === of.tier) + 1);
}

export function tierKey(of: TierOf): string {
  return keys.get(of) ?? writeKey(of);
}

function writeKey({ tier, orgId, teamId, agentId }: TierOf): string {
  return tier === 'global' ? 'global' : `${tier}:${orgId}/${teamId}/${agentId}`;
}

import type { AgentId } from '../kernel/index.ts';
import { RecentMap, rememberingRecent } from '../kernel/index.ts';

export type BudgetTier = 'global' | 'org' | 'team' | 'agent';

/** Whose balance it is: everybody's, or that of an org, a team or an agent. */
export interface TierOf {
  readonly tier: BudgetTier;
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

const nobody = { orgId: '', teamId: '', agentId: '' };

/** A tier that knows its key. Every decision asks for keys several times. */
class KeyedTier implements TierOf {
  readonly tier: BudgetTier;
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
  readonly #key: string;

  constructor(of: TierOf) {
    this.tier = of.tier;
    this.orgId = of.orgId;
    this.teamId = of.teamId;
    this.agentId = of.agentId;
    this.#key = writeKey(of);
  }

  static keyOf(of: TierOf): string {
    return #key in of ? of.#key : writeKey(of);
  }
}

/** The whole gateway. */
export const everybody: TierOf = new KeyedTier({ ...nobody, tier: 'global' });

/** The tiers above agents. The agents of a team share them: there may be 100,000 agents. */
const tiersByTeam = new RecentMap<readonly TierOf[]>(10_000);

/**
 * The tiers that an agent's charge goes to, in the order of enforcement. An agent without an org has no org tier, and
 * an agent without a team has no team tier. Every decision asks with the id that the agent is registered with.
 */
export const tiersOf: (agent: AgentId) => readonly TierOf[] = rememberingRecent(({ orgId, teamId, agentId }) => [
  ...tiersAbove(orgId, teamId),
  new KeyedTier({ tier: 'agent', orgId, teamId, agentId }),
]);

/** A charge of an agent, and those of its team on whose behalf it acts: their ids, the nearest first. */
export interface ChargedTo {
  readonly agent: AgentId;
  readonly delegators: readonly string[];
}

/** The tiers that a charge goes to: those of the agent, then the agent tier of each delegator. */
export function tiersCharged({ agent, delegators }: ChargedTo): readonly TierOf[] {
  const tiers = tiersOf(agent);
  if (delegators.length === 0) return tiers;
  const { orgId, teamId } = agent;
  return [...tiers, ...delegators.map((agentId) => new KeyedTier({ tier: 'agent', orgId, teamId, agentId }))];
}

function tiersAbove(orgId: string, teamId: string): readonly TierOf[] {
  const team = new KeyedTier({ ...nobody, tier: 'team', orgId, teamId });
  const key = tierKey(team);
  const known = tiersByTeam.get(key);
  if (known !== undefined) return known;
  const tiers = [everybody];
  if (orgId !== '') tiers.push(new KeyedTier({ ...nobody, tier: 'org', orgId }));
  if (teamId !== '') tiers.push(team);
  tiersByTeam.set(key, tiers);
  return tiers;
}

/** A tier and all above it, in the order of enforcement. */
export function tiersUpFrom(of: TierOf): readonly TierOf[] {
  const tiers = tiersOf(of);
  return tiers.slice(0, tiers.findIndex(({ tier }) => tier === of.tier) + 1);
}

export function tierKey(of: TierOf): string {
  return KeyedTier.keyOf(of);
}

function writeKey({ tier, orgId, teamId, agentId }: TierOf): string {
  // Balances keep it for each agent. A template would keep the parts in memory, too.
  return tier === 'global' ? 'global' : [`${tier}:${orgId}`, teamId, agentId].join('/');
}

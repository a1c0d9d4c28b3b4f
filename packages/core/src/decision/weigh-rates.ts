import { canonicalJson, draftOf, noLineage, system } from '../audit/index.ts';
import type { KnownRates, RateExceeded, RatesCounted, TierOf } from '../budget/index.ts';
import { rateKey } from '../budget/index.ts';
import type { AgentId, EpochMs, Sha256 } from '../kernel/index.ts';
import { timestamp } from '../kernel/index.ts';
import type { RateInForce, Tier, Verdict } from '../policy/index.ts';
import { mostRatesOfCheck } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { RateLimit } from './answer.ts';
import type { Decisions } from './decisions.ts';

/** Why a rate refuses a check. */
export interface RateRefusal {
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  /** Absent if too many rates count the action. */
  readonly rate?: RateLimit;
}

interface Weighing {
  readonly rates: Pick<KnownRates, 'exceededBy'>;
  readonly sha256: Sha256;
}

/**
 * The verdict of the rates, for decisions and simulations alike. Undefined if there is room. It counts nothing. `isTold`
 * says whether the reason may name the maximum of a tier.
 */
export function weighRates(
  { rates, sha256 }: Weighing,
  agent: AgentId,
  { rates: counting = [] }: Pick<Verdict, 'rates'>,
  now: EpochMs,
  isTold: (of: TierOf, agent: AgentId) => boolean = isToldMaximum,
): RateRefusal | undefined {
  if (counting.length === 0) return undefined;
  const first = counting[mostRatesOfCheck];
  if (first !== undefined) {
    const reason = `more than ${mostRatesOfCheck} rates count this action, and so many cannot be counted; remove some`;
    return { reason, policyRule: first.id, tier: first.scope.tier };
  }
  const exceeded = rates.exceededBy(agent, counting, now, sha256);
  const rate = exceeded && counting.find(({ id }) => id === exceeded.rate.id);
  if (exceeded === undefined || rate === undefined) return undefined;
  return {
    reason: exceededReason(exceeded, isTold(exceeded.of, agent)),
    policyRule: rate.id,
    tier: rate.scope.tier,
    rate: { windowSecs: rate.windowSecs, roomAt: exceeded.roomAt },
  };
}

/** How much everybody together may do is no org's business. */
function isToldMaximum({ tier }: TierOf, { orgId }: AgentId): boolean {
  return tier !== 'global' || orgId === '';
}

function exceededReason({ rate, of, roomAt }: RateExceeded, isTold: boolean): string {
  const whose = of.tier === 'global' ? 'the gateway' : `this ${of.tier}`;
  const rateOf = `${isTold ? `${rate.max} checks` : 'the checks'} of ${whose} in ${rate.windowSecs} s`;
  return `the rate ${rate.id} is used up: ${rateOf}; there is room again at ${timestamp(roomAt)}`;
}

/** Counts a check that is allowed or held, and tells of rates that are nearly used up. */
export function countRates(gov: Decisions, agent: Agent, counting: readonly RateInForce[], now: EpochMs): void {
  const { rates, sha256, journal } = gov;
  const { id } = agent.record;
  const approached = rates.approachedBy(id, counting, now, sha256);
  const counted = [...new Set(counting.map((rate) => rateKey(rate, sha256)))];
  const told = approached.map(({ key, percent }) => ({ key, percent }));
  const fact: RatesCounted = { kind: 'rates_counted', agent: id, at: now, counted };
  journal.apply(told.length === 0 ? fact : { ...fact, told });
  for (const { rate, of, percent, count } of approached) {
    journal.record(
      draftOf({
        at: now,
        eventType: 'RateLimitApproached',
        lineage: of.tier === 'global' ? noLineage : agent.lineage,
        actor: system,
        policyRule: rate.id,
        payload: canonicalJson({
          count,
          max: rate.max,
          percent,
          team_id: of.teamId,
          tier: of.tier,
          tier_agent_id: of.agentId,
          window_secs: rate.windowSecs,
        }),
      }),
    );
  }
}

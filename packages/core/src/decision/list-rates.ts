import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { BudgetFilter, TierOf } from '../budget/index.ts';
import { tierKey, tiersOf } from '../budget/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { RateInForce } from '../policy/index.ts';
import { scopesAbove } from '../policy/index.ts';
import { visibleAgents } from '../tenancy/index.ts';
import type { Decisions } from './decisions.ts';

/** As for budgets. `minPercent`: only those of which at least this percentage is used up. */
export type RateFilter = Omit<BudgetFilter, 'period'>;

/** How much of a rate one tenant has used. */
export interface RateRow {
  readonly rate: RateInForce;
  readonly of: TierOf;
  readonly count: number;
  /** When the next check fits; null if it does now. */
  readonly roomAt: EpochMs | null;
}

/**
 * The rates in force for the agents that the caller may see. A caller that is bound to a tenant, or asks for one, does not
 * see what everybody does together.
 */
export function listRates(gov: Decisions, by: Principal, filter: RateFilter): RateRow[] {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return [];
  const isNarrowed = Object.keys(within).length > 0 || filter.agentId !== undefined;
  const now = gov.clock.now();
  const isWanted = ({ tier }: TierOf) => {
    if (tier === 'global' && isNarrowed) return false;
    // A tier that is wider than the request would tell of others, too.
    if (tier === 'org' && within.teamId !== undefined) return false;
    return filter.agentId === undefined ? (filter.tier ?? tier) === tier : tier === 'agent';
  };
  const rows: RateRow[] = [];
  for (const { rate, of } of subjects(gov, by, filter, isWanted)) {
    const row = rowOf(gov, rate, of, now);
    if (row.count * 100 >= rate.max * (filter.minPercent ?? 0)) rows.push(row);
  }
  return rows.sort(byRate);
}

/** Whoever wants to see more asks for an org, a team or an agent. */
const mostRows = 10_000;

/** Each rate with each tenant that it counts, once: the agents of an org share what counts the org. */
function* subjects(
  gov: Decisions,
  by: Principal,
  filter: RateFilter,
  isWanted: (of: TierOf) => boolean,
): Generator<{ readonly rate: RateInForce; readonly of: TierOf }> {
  const { rates } = gov.policies;
  if (rates.all.length === 0) return;
  const seen = new Set<string>();
  let count = 0;
  for (const { record } of visibleAgents(gov, by, filter)) {
    const { id } = record;
    if (filter.agentId !== undefined && id.agentId !== filter.agentId) continue;
    const wanted = tiersOf(id).filter(isWanted);
    for (const scope of scopesAbove(id)) {
      for (const of of wanted) {
        const place = `${scope} ${tierKey(of)}`;
        if (seen.has(place)) continue;
        seen.add(place);
        for (const rate of rates.ofScope(scope)) {
          if (rate.tier !== of.tier) continue;
          yield { rate, of };
          if (++count === mostRows) return;
        }
      }
    }
  }
}

function rowOf({ rates, sha256 }: Decisions, rate: RateInForce, of: TierOf, now: EpochMs): RateRow {
  const { count, roomAt } = rates.read(of, rate, now, sha256);
  return { rate, of, count, roomAt: count < rate.max ? null : roomAt };
}

/** By document and place, then by tenant. */
function byRate(a: RateRow, b: RateRow): number {
  if (a.rate.id !== b.rate.id) return a.rate.id.localeCompare(b.rate.id, 'en', { numeric: true });
  return tierKey(a.of) < tierKey(b.of) ? -1 : 1;
}

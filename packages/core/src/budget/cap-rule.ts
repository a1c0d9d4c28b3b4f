import type { Total, Micros } from '../kernel/index.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import type { Width } from '../access/index.ts';
import type { Period } from './period.ts';
import type { Balance } from './balance.ts';
import { widest } from '../access/index.ts';
import { periods } from './period.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import { plus } from '../kernel/index.ts';

/** Reads balances. */
export interface ReadBalances {
  read(of: TierOf): Pick<Balance, 'spent' | 'reserved'>;
}

/** A cap that a charge would pass. */
export interface Exceeded {
  readonly of: TierOf;
  readonly period: Period;
  readonly limitMicros: Micros;
  /** Settled and reserved, without the charge. */
  readonly totalMicros: Total;
}

/** A share of a cap that is used up for the first time in its period. */
export interface Approached {
  readonly of: TierOf;
  readonly period: Period;
  readonly percent: number;
  readonly limitMicros: Micros;
  readonly totalMicros: Total;
}

/** The shares of a cap, in percent, at which somebody is told once per period. */
export const thresholds = [80, 95] as const;

/**
 * The first cap of a policy that a charge to these tiers would pass, in their order. The policy need not be in force.
 * Balances are only read.
 */
export function exceededUnder(
  policy: Pick<BudgetPolicy, 'capsOf'>,
  balances: ReadBalances,
  tiers: readonly TierOf[],
  cost: Micros,
): Exceeded | undefined {
  if (cost === 0) return undefined;
  for (const of of tiers) {
    const caps = policy.capsOf(of);
    if (caps.day === null && caps.month === null) continue;
    const { spent, reserved } = balances.read(of);
    for (const period of periods) {
      const limitMicros = caps[period];
      if (limitMicros === null) continue;
      const totalMicros = plus(spent[period], reserved);
      if (plus(totalMicros, cost) > limitMicros) return { of, period, limitMicros, totalMicros };
    }
  }
  return undefined;
}

/** A capped tier of an agent. */
export interface CappedTotal {
  readonly of: TierOf;
  readonly period: Period;
  readonly total: Total;
  readonly limit: Micros;
  readonly noticed: number;
}

/** Reads balances, with what somebody was told about them. */
interface NoticedBalances {
  readonly policy: Pick<BudgetPolicy, 'capsOf'>;
  read(of: TierOf): Pick<Balance, 'spent' | 'reserved' | 'noticed'>;
}

/** Whether something holds for the totals of all capped tiers among these. */
export function everyCap(
  ledger: NoticedBalances,
  tiers: readonly TierOf[],
  fits: (capped: CappedTotal) => boolean,
): boolean {
  return tiers.every((of) => {
    const caps = ledger.policy.capsOf(of);
    if (caps.day === null && caps.month === null) return true;
    const { spent, reserved, noticed } = ledger.read(of);
    return periods.every((period) => {
      const limit = caps[period];
      return (
        limit === null || fits({ of, period, total: plus(spent[period], reserved), limit, noticed: noticed[period] })
      );
    });
  });
}

/** The width above the tenant of a cap. Nobody within a tenant lets a charge pass a cap on the whole tenant. */
const widthAbove: Readonly<Record<BudgetTier, Width>> = {
  global: 'unbound',
  org: 'unbound',
  team: 'org',
  agent: 'team',
};

/**
 * How wide a credential must be to approve a charge past caps: as wide as what stands above the widest capped tenant.
 * An org may pass a cap that it has set for itself below the operator's.
 */
export function approverWidth(
  ledger: ReadBalances & { readonly policy: BudgetPolicy },
  tiers: readonly TierOf[],
  charge: Micros,
): Width {
  const { policy } = ledger;
  const imposed = { capsOf: policy.imposedCapsOf };
  let width: Width = 'team';
  for (const of of tiers) {
    if (exceededUnder(policy, ledger, [of], charge) === undefined) continue;
    const isOwn = of.tier === 'org' && exceededUnder(imposed, ledger, [of], charge) === undefined;
    width = widest(width, isOwn ? 'org' : widthAbove[of.tier]);
  }
  return width;
}

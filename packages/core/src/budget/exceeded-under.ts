import type { BudgetPolicy } from './budget-policy.ts';
import type { Exceeded, Ledger } from './ledger.ts';
import type { Micros } from '../kernel/money.ts';
import { plus } from '../kernel/money.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';

/** The first cap of a policy, in force or not, that a charge to these tiers would pass, in their order; balance are only read. */
export function exceededUnder(
  policy: Pick<BudgetPolicy, 'capsOf'>,
  ledger: Pick<Ledger, 'read'>,
  tiers: readonly TierOf[],
  cost: Micros,
): Exceeded | undefined {
  if (cost === 0) return undefined;
  for (const of of tiers) {
    const caps = policy.capsOf(of);
    const { spent, reserved } = ledger.read(of);
    for (const period of periods) {
      const limitMicros = caps[period];
      if (limitMicros === null) continue;
      const totalMicros = plus(spent[period], reserved);
      if (plus(totalMicros, cost) > limitMicros) return { of, period, limitMicros, totalMicros };
    }
  }
  return undefined;
}

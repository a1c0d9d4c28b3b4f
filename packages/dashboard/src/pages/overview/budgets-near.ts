import { usdToMicros } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';

export type Budget = Answer<'listBudgets'>['items'][number];

export interface NearBudget {
  readonly budget: Budget;
  /** Whole percent of the cap that is spent or reserved. */
  readonly percent: number;
}

/** Budgets near their cap, the fullest first. */
export function nearCap(budgets: readonly Budget[], atLeast: number): readonly NearBudget[] {
  return budgets
    .flatMap((budget) => {
      const percent = percentOf(budget);
      return percent === undefined || percent < atLeast ? [] : [{ budget, percent }];
    })
    .sort((one, other) => other.percent - one.percent);
}

/** In whole numbers. A cap of zero is full. Undefined without a cap. */
export function percentOf({ limit_usd: limit, spent_usd: spent, reserved_usd: reserved }: Budget): number | undefined {
  if (limit === null) return undefined;
  const cap = usdToMicros(limit) ?? 0n;
  const used = (usdToMicros(spent) ?? 0n) + (usdToMicros(reserved) ?? 0n);
  return cap === 0n ? 100 : Number((used * 100n) / cap);
}

import type { ClosedPeriod } from '../budget/balance.ts';
import type { Period } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import { tierKey } from '../budget/tier.ts';
import type { Change } from '../store.ts';

/** What was spent in days and months that are over, in memory. */
export class MemoryClosedPeriods {
  /** By period and tier, then by day or month. */
  readonly #byTier = new Map<string, Map<string, ClosedPeriod>>();

  apply({ closed, closedBefore }: Extract<Change, { kind: 'balances_saved' }>): void {
    for (const balance of closed) {
      const name = nameOf(balance.of, balance.period);
      const known = this.#byTier.get(name) ?? new Map<string, ClosedPeriod>();
      known.set(balance.id, balance);
      this.#byTier.set(name, known);
    }
    if (closedBefore === null) return;
    for (const known of this.#byTier.values()) {
      for (const { id, period } of known.values()) if (id < closedBefore[period]) known.delete(id);
    }
  }

  newest(of: TierOf, period: Period, count: number): ClosedPeriod[] {
    const known = [...(this.#byTier.get(nameOf(of, period))?.values() ?? [])];
    return known.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(-count);
  }
}

function nameOf(of: TierOf, period: Period): string {
  return `${period} ${tierKey(of)}`;
}

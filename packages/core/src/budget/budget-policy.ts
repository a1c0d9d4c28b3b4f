import type { Period } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { tierKey } from './tier.ts';
import type { Micros } from '../kernel/index.ts';

/** The most that may be spent in a period; null if there is no cap. */
export type Caps = Readonly<Record<Period, Micros | null>>;

export const noCaps: Caps = { day: null, month: null };

/** What happens to a charge that would pass a cap: it is denied, or somebody must approve it. */
export type ActionOnExceed = 'deny' | 'require_approval';

/** The combined budget rules of all policies. */
export interface BudgetPolicy {
  readonly calendar: Calendar;
  readonly actionOnExceed: ActionOnExceed;
  readonly capsOf: (of: TierOf) => Caps;
  /** The caps that the operator has set, before tenants lowered them. */
  readonly imposedCapsOf: (of: TierOf) => Caps;
}

export interface BudgetRules {
  readonly timeZone: string;
  readonly actionOnExceed: ActionOnExceed;
  /** The caps of every tenant of a tier. */
  readonly uniform: Readonly<Record<BudgetTier, Caps>>;
  /** Caps of single tenants that the operator has set. They replace the uniform caps, period by period. */
  readonly own: readonly OwnCaps[];
  /** Caps of single tenants that credentials bound to them have set. They can only lower the other caps. */
  readonly lowered: readonly OwnCaps[];
}

interface OwnCaps {
  readonly of: TierOf;
  readonly caps: Partial<Caps>;
}

export const noBudgets: BudgetRules = {
  timeZone: 'UTC',
  actionOnExceed: 'deny',
  uniform: { global: noCaps, org: noCaps, team: noCaps, agent: noCaps },
  own: [],
  lowered: [],
};

export function budgetPolicy(rules: BudgetRules): BudgetPolicy {
  const own = new Map<string, Caps>();
  for (const { of, caps } of rules.own) {
    const key = tierKey(of);
    own.set(key, { ...(own.get(key) ?? rules.uniform[of.tier]), ...caps });
  }
  const lowered = new Map(own);
  for (const { of, caps } of rules.lowered) {
    const key = tierKey(of);
    lowered.set(key, lowerOf(lowered.get(key) ?? rules.uniform[of.tier], caps));
  }
  return {
    calendar: new Calendar(rules.timeZone),
    actionOnExceed: rules.actionOnExceed,
    capsOf: (of) => (lowered.size === 0 ? undefined : lowered.get(tierKey(of))) ?? rules.uniform[of.tier],
    imposedCapsOf: (of) => own.get(tierKey(of)) ?? rules.uniform[of.tier],
  };
}

/** The lower cap of each period. No cap counts as higher than any cap. */
function lowerOf(caps: Caps, by: Partial<Caps>): Caps {
  const lower = (one: Micros | null, other: Micros | null = null) =>
    one === null || other === null ? (one ?? other) : Math.min(one, other);
  return { day: lower(caps.day, by.day), month: lower(caps.month, by.month) };
}

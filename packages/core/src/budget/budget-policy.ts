import type { Period } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { tierKey } from './tier.ts';
import type { Glob, Micros } from '../kernel/index.ts';

/** The most that may be spent in a period; null where there is no cap. */
export type Caps = Readonly<Record<Period, Micros | null>>;

export const noCaps: Caps = { day: null, month: null };

/** What becomes of a charge that would pass a cap: it is refused, or somebody is asked. */
export type ActionOnExceed = 'deny' | 'require_approval';

/** What policies say of budgets, put together. */
export interface BudgetPolicy {
  readonly calendar: Calendar;
  readonly actionOnExceed: ActionOnExceed;
  readonly capsOf: (of: TierOf) => Caps;
  /** Those that the operator has set, without what tenants have lowered. */
  readonly imposedCapsOf: (of: TierOf) => Caps;
}

export interface BudgetRules {
  readonly timeZone: string;
  readonly actionOnExceed: ActionOnExceed;
  /** The same for every tenant of a tier. */
  readonly uniform: Readonly<Record<BudgetTier, Caps>>;
  /** A tenant's own that the operator has set: they stand in place of the uniform ones, period by period. */
  readonly own: readonly OwnCaps[];
  /** A tenant's own that credentials bound to it have set: they can only lower what holds without them. */
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
    capsOf: (of) => lowered.get(tierKey(of)) ?? rules.uniform[of.tier],
    imposedCapsOf: (of) => own.get(tierKey(of)) ?? rules.uniform[of.tier],
  };
}

/** The lower cap of each period; none is higher than any. */
function lowerOf(caps: Caps, by: Partial<Caps>): Caps {
  const lower = (one: Micros | null, other: Micros | null = null) =>
    one === null || other === null ? (one ?? other) : Math.min(one, other);
  return { day: lower(caps.day, by.day), month: lower(caps.month, by.month) };
}

export interface Price {
  readonly model: Glob;
  /** Micro-dollars for a million tokens. */
  readonly inputPerMtok: Micros;
  readonly outputPerMtok: Micros;
}

/** What to assume of a model that no price is given for. */
export type UnknownPrice = 'deny' | 'zero' | 'worst';

export interface Pricing {
  /** In the order in which they were written: the first whose glob fits counts. */
  readonly prices: readonly Price[];
  readonly unknownPrice: UnknownPrice;
}

export const noPrices: Pricing = { prices: [], unknownPrice: 'zero' };

export interface TokenCount {
  readonly model: string;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
}

/** What a call of a model costs at most; undefined where its price is not known and nothing may be assumed. */
export function priceOf({ prices, unknownPrice }: Pricing, call: TokenCount): Micros | undefined {
  const known = knownPriceOf({ prices, unknownPrice }, call);
  if (known !== undefined) return known;
  if (unknownPrice === 'zero') return 0;
  if (unknownPrice === 'worst') return Math.max(0, ...prices.map((price) => costAt(price, call)));
  return undefined;
}

/** The same where the model has a price of its own, and nothing is assumed. */
export function knownPriceOf({ prices }: Pricing, call: TokenCount): Micros | undefined {
  const price = prices.find(({ model }) => model.matches(call.model));
  return price === undefined ? undefined : costAt(price, call);
}

/** Rounded up: a fraction of a micro-dollar is never given away. */
function costAt({ inputPerMtok, outputPerMtok }: Price, { promptTokens, maxOutputTokens }: TokenCount): Micros {
  const cost = BigInt(inputPerMtok) * BigInt(promptTokens) + BigInt(outputPerMtok) * BigInt(maxOutputTokens);
  return Number((cost + 999_999n) / 1_000_000n);
}

import type { Period } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { tierKey } from './tier.ts';
import type { Glob, Micros } from '../kernel/index.ts';

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

export interface Price {
  readonly model: Glob;
  /** Micro-dollars per million tokens. */
  readonly inputPerMtok: Micros;
  readonly outputPerMtok: Micros;
  /** Of input tokens that the model had seen before. */
  readonly cachedInputPerMtok: Micros;
}

/** What to assume for a model without a price. */
export type UnknownPrice = 'deny' | 'zero' | 'worst';

export interface Pricing {
  /** In the order as written. The first price whose glob matches counts. */
  readonly prices: readonly Price[];
  readonly unknownPrice: UnknownPrice;
}

export const noPrices: Pricing = { prices: [], unknownPrice: 'zero' };

export interface TokenCount {
  readonly model: string;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
}

/** The most that a model call costs. Undefined if its price is unknown and nothing may be assumed. */
export function priceOf({ prices, unknownPrice }: Pricing, call: TokenCount): Micros | undefined {
  const known = knownPriceOf({ prices, unknownPrice }, call);
  if (known !== undefined) return known;
  if (unknownPrice === 'zero') return 0;
  if (unknownPrice === 'worst') return Math.max(0, ...prices.map((price) => costAt(price, call)));
  return undefined;
}

/** The same for a model with a price of its own. It assumes nothing. */
export function knownPriceOf({ prices }: Pricing, call: TokenCount): Micros | undefined {
  const price = prices.find(({ model }) => model.matches(call.model));
  return price === undefined ? undefined : costAt(price, call);
}

/** What a model call did use. The cached tokens are part of the input. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

/** What a call did cost, if its model has a price of its own. */
export function usageCostOf({ prices }: Pricing, model: string, usage: TokenUsage): Micros | undefined {
  const price = prices.find((each) => each.model.matches(model));
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  return roundedUp(
    [price.inputPerMtok, inputTokens - cachedInputTokens],
    [price.cachedInputPerMtok, cachedInputTokens],
    [price.outputPerMtok, outputTokens],
  );
}

/** The most that a call costs: nobody knows what of it the model has seen before. */
function costAt(price: Price, { promptTokens, maxOutputTokens }: TokenCount): Micros {
  const dearest = Math.max(price.inputPerMtok, price.cachedInputPerMtok);
  return roundedUp([dearest, promptTokens], [price.outputPerMtok, maxOutputTokens]);
}

/** The sum of prices per million tokens times tokens. Rounds up: no fraction of a micro-dollar is given away. */
function roundedUp(...parts: readonly (readonly [perMtok: Micros, tokens: number])[]): Micros {
  const cost = parts.reduce((sum, [perMtok, tokens]) => sum + BigInt(perMtok) * BigInt(tokens), 0n);
  return Number((cost + 999_999n) / 1_000_000n);
}

import type { Glob } from '../kernel/glob.ts';
import type { Micros } from '../kernel/money.ts';

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

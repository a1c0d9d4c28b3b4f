import type { Glob, Micros } from '../kernel/index.ts';
import { compileGlob } from '../kernel/index.ts';
import { builtInPriceOf, builtInPrices, plainName } from './built-in-prices.ts';
import type { ModelPrice, Rates } from './model-price.ts';
import { priceTable } from './price-table.ts';

/** A price that policy configures. */
export interface Price extends ModelPrice {
  readonly model: Glob;
}

/** The glob of a model's name. Letter case does not count, as in the built-in prices. */
export function modelGlob(source: string): Glob {
  return compileGlob(source, true);
}

/** What to assume for a model without a price. */
export type UnknownPrice = 'deny' | 'zero' | 'worst';

export interface Pricing {
  /** In the order as written. The first price whose glob matches counts, and any of them counts over a built-in one. */
  readonly prices: readonly Price[];
  readonly unknownPrice: UnknownPrice;
}

/** What counts where policy configures nothing: the built-in prices alone. */
export const noPrices: Pricing = { prices: [], unknownPrice: 'zero' };

/** Where a price comes from, as answers and the log say it: policy, or the table of this version and its day. */
export type PriceSource = 'configured' | `built in, ${string}`;

export const builtIn: PriceSource = `built in, ${priceTable.asOf}`;

export interface FoundPrice {
  readonly price: ModelPrice;
  readonly source: PriceSource;
}

/**
 * The price of a model: the first that policy configures for it, or else the built-in one. No spelling of a name leads
 * past a configured price to the built-in one.
 */
export function findPrice({ prices }: Pricing, model: string): FoundPrice | undefined {
  const plain = plainName(model);
  const names = [plain, `models/${plain}`];
  const configured = prices.find((each) => names.some((name) => each.model.matches(name)));
  if (configured !== undefined) return { price: configured, source: 'configured' };
  const price = builtInPriceOf(model);
  return price === undefined ? undefined : { price, source: builtIn };
}

export interface TokenCount {
  readonly model: string;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
}

/** The most that a call costs. Undefined if the price of its model is unknown and nothing may be assumed. */
export function priceOf({ prices, unknownPrice }: Pricing, call: TokenCount): Micros | undefined {
  const known = knownPriceOf({ prices, unknownPrice }, call);
  if (known !== undefined) return known;
  if (unknownPrice === 'zero') return 0;
  if (unknownPrice === 'worst') return Math.max(0, ...worst(prices).map((price) => costAt(price, call)));
  return undefined;
}

/** The prices of which the highest may be assumed: those that policy configures, or all that are known. */
function worst(prices: readonly ModelPrice[]): readonly ModelPrice[] {
  return prices.length === 0 ? [...builtInPrices.values()] : prices;
}

/** The same for a model with a price of its own. It assumes nothing. */
export function knownPriceOf(pricing: Pricing, call: TokenCount): Micros | undefined {
  const found = findPrice(pricing, call.model);
  return found === undefined ? undefined : costAt(found.price, call);
}

/** What a model call did use. The cached tokens are part of the input. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

/** What a call did cost, if its model has a price of its own. */
export function usageCostOf(pricing: Pricing, model: string, usage: TokenUsage): Micros | undefined {
  const found = findPrice(pricing, model);
  if (found === undefined) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const rates = ratesFor(found.price, inputTokens);
  return roundedUp(
    [rates.inputPerMtok, inputTokens - cachedInputTokens],
    [rates.cachedInputPerMtok, cachedInputTokens],
    [rates.outputPerMtok, outputTokens],
  );
}

function ratesFor(price: ModelPrice, inputTokens: number): Rates {
  return price.beyond !== undefined && inputTokens > price.beyond.inputTokens ? price.beyond : price;
}

/** The most that a call costs: nobody knows what of it the model has seen before. */
function costAt(price: ModelPrice, { promptTokens, maxOutputTokens }: TokenCount): Micros {
  const rates = ratesFor(price, promptTokens);
  const dearest = Math.max(rates.inputPerMtok, rates.cachedInputPerMtok);
  return roundedUp([dearest, promptTokens], [rates.outputPerMtok, maxOutputTokens]);
}

/** The sum of prices per million tokens times tokens. Rounds up: no fraction of a micro-dollar is given away. */
function roundedUp(...parts: readonly (readonly [perMtok: Micros, tokens: number])[]): Micros {
  const cost = parts.reduce((sum, [perMtok, tokens]) => sum + BigInt(perMtok) * BigInt(tokens), 0n);
  return Number((cost + 999_999n) / 1_000_000n);
}

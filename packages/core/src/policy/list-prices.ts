import type { Principal } from '../access/index.ts';
import { requireScope, requireUnbound } from '../access/index.ts';
import type { ModelPrice, PriceSource, UnknownPrice } from '../budget/index.ts';
import { builtIn, builtInPrices, findPrice, priceTable } from '../budget/index.ts';
import type { Policies } from './policies.ts';

export interface ListedPrice {
  /** A glob if a policy configures the price, else a name. */
  readonly model: string;
  readonly price: ModelPrice;
  readonly source: PriceSource;
}

export interface PriceList {
  readonly prices: readonly ListedPrice[];
  readonly unknownPrice: UnknownPrice;
  readonly builtIn: { readonly asOf: string; readonly source: string };
}

/**
 * All prices, those that policy configures first, or the one that counts for a model. What the operator configures is
 * no tenant's business.
 */
export function listPrices({ policies }: Pick<Policies, 'policies'>, by: Principal, model?: string): PriceList {
  requireScope(by, 'read');
  requireUnbound(by);
  const { pricing } = policies;
  const { asOf, source } = priceTable;
  const about = {
    unknownPrice: pricing.unknownPrice,
    builtIn: { asOf, source: `${source.package} ${source.version}` },
  };
  if (model !== undefined) {
    const found = findPrice(pricing, model);
    return { ...about, prices: found === undefined ? [] : [{ ...found, model }] };
  }
  const configured = pricing.prices.map((price) => ({
    model: price.model.source,
    price,
    source: 'configured' as const,
  }));
  const known = [...builtInPrices].map(([name, price]) => ({ model: name, price, source: builtIn }));
  return { ...about, prices: [...configured, ...known] };
}

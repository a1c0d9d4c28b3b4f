import type { ListedPrice, Policies } from '@reeve/core';
import { listPrices, usdOfMicros } from '@reeve/core';
import type { Handlers } from '../handler.ts';

export function priceHandlers(gov: Pick<Policies, 'policies'>): Pick<Handlers, 'listPrices'> {
  return {
    listPrices: ({ query }, { principal }) => {
      const { prices, unknownPrice, builtIn } = listPrices(gov, principal, query.model);
      return {
        items: prices.map(priceJson),
        unknown_price: unknownPrice,
        built_in: { as_of: builtIn.asOf, source: builtIn.source },
      };
    },
  };
}

function priceJson({ model, price, source }: ListedPrice) {
  const { beyond } = price;
  return {
    model,
    ...ratesJson(price),
    beyond: beyond === undefined ? null : { input_tokens: beyond.inputTokens, ...ratesJson(beyond) },
    source,
  };
}

function ratesJson(rates: Omit<ListedPrice['price'], 'beyond'>) {
  return {
    input_per_mtok_usd: usdOfMicros(rates.inputPerMtok),
    output_per_mtok_usd: usdOfMicros(rates.outputPerMtok),
    cached_input_per_mtok_usd: usdOfMicros(rates.cachedInputPerMtok),
  };
}

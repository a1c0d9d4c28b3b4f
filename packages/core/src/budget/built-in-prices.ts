import type { ModelPrice, PriceRow } from './model-price.ts';
import { dearerOf } from './model-price.ts';
import { priceTable } from './price-table.ts';

/** The prices that this version knows, by the name of the model, in the order of the table. */
export const builtInPrices: ReadonlyMap<string, ModelPrice> = new Map(
  priceTable.rows.map((row) => [row[0], priceIn(row)]),
);

/** The dearest price of all names that differ in their date alone, by the name without it. */
const dearest = new Map<string, ModelPrice>();
for (const [model, price] of builtInPrices) {
  const known = dearest.get(undated(model));
  dearest.set(undated(model), known === undefined ? price : dearerOf(known, price));
}

/**
 * The built-in price of a model. Its name counts as the table has it, in any letter case. A name that is not there
 * counts by three rules alone. `models/` before it is left out. `ft:<model>:…` is the fine-tuned `ft:<model>`. And a
 * name with another date, or `-latest`, or none, has the dearest price of those that differ in the date alone, because
 * the versions of a model may differ in price. No other name is guessed at.
 */
export function builtInPriceOf(model: string): ModelPrice | undefined {
  const name = plainName(model);
  const known = name.startsWith('ft:') ? name.split(':', 2).join(':') : name;
  return builtInPrices.get(known) ?? dearest.get(undated(known));
}

/** The name of a model as the table has it: in lower case, without `models/`. */
export function plainName(model: string): string {
  return model.toLowerCase().replace(/^models\//, '');
}

/** Providers write dates as `-2025-08-07` and `-20250807`. */
function undated(model: string): string {
  return model.replace(/-(?:latest|20\d\d-\d\d-\d\d|20\d{6})$/, '');
}

function priceIn([, inputPerMtok, outputPerMtok, cachedInputPerMtok, beyond]: PriceRow): ModelPrice {
  const price = { inputPerMtok, outputPerMtok, cachedInputPerMtok };
  if (beyond === undefined) return price;
  const [inputTokens, input, output, cached] = beyond;
  return {
    ...price,
    beyond: { inputTokens, inputPerMtok: input, outputPerMtok: output, cachedInputPerMtok: cached },
  };
}

import type { ModelPrice, PriceRow, Rates } from '../../packages/core/src/budget/model-price.ts';
import { dearerOf } from '../../packages/core/src/budget/model-price.ts';

/** The providers that are asked directly, and what the source writes before the names of their models. */
const providers: Readonly<Record<string, string>> = {
  openai: '',
  'text-completion-openai': '',
  anthropic: '',
  gemini: 'gemini/',
  mistral: 'mistral/',
  cohere: '',
  cohere_chat: '',
  deepseek: 'deepseek/',
  xai: 'xai/',
  groq: 'groq/',
};

const modes: ReadonlySet<unknown> = new Set(['chat', 'completion', 'responses', 'embedding']);

/** A model as the source has it. Numbers are texts, as they are written there. */
type Listed = Readonly<Record<string, unknown>>;

export interface ReadPrices {
  readonly rows: readonly PriceRow[];
  /** What was left out, and why. */
  readonly refused: readonly string[];
}

/**
 * The prices of the models of `text`, a JSON object of models by name, in the order of their names. Of two prices under
 * one name nobody knows which counts, so the dearer one does.
 */
export function readPrices(text: string): ReadPrices {
  const prices = new Map<string, ModelPrice>();
  const refused: string[] = [];
  for (const [listedName, model] of Object.entries(parseExactly(text))) {
    if (!isListed(model) || !modes.has(model.mode)) continue;
    const prefix = providers[String(model.litellm_provider)];
    if (prefix === undefined) continue;
    const name = listedName.startsWith(prefix) ? listedName.slice(prefix.length) : listedName;
    const price = priceOf(name, model);
    if (typeof price === 'string') refused.push(`${listedName}: ${price}`);
    else prices.set(name, dearerOf(prices.get(name) ?? price, price));
  }
  const names = [...prices].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { rows: names.map(([name, price]) => rowOf(name, price)), refused };
}

/** A number would be a float. Its text is what the source says. */
function parseExactly(text: string): Listed {
  const asText = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? 'a number without its text') : value;
  const parsed: unknown = JSON.parse(text, asText);
  if (!isListed(parsed)) throw new Error('the source is not an object of models');
  return parsed;
}

function isListed(value: unknown): value is Listed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The price of a model, or why it has none. */
function priceOf(name: string, model: Listed): ModelPrice | string {
  if (!/^[a-z0-9][a-z0-9.:/_-]*$/.test(name)) return 'the name has other characters';
  if ('output_cost_per_audio_token' in model) return 'what it costs depends on how much of the output is sound';
  const rates = ratesOf(model, '');
  if (typeof rates === 'string') return rates;
  if (rates.inputPerMtok === 0 || (rates.outputPerMtok === 0 && model.mode !== 'embedding')) {
    return 'a price of 0 is not a price';
  }
  const limits = Object.keys(model).flatMap((key) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(key)?.[1] ?? []);
  const [thousands, another] = limits;
  if (thousands === undefined) return rates;
  if (another !== undefined) return 'it has more than one price for long inputs';
  const beyond = ratesOf(model, `_above_${thousands}k_tokens`, rates);
  return typeof beyond === 'string'
    ? beyond
    : { ...rates, beyond: { inputTokens: Number(thousands) * 1000, ...beyond } };
}

/** What is not said is as dear as below the limit, and nothing is cheaper beyond it. */
function ratesOf(model: Listed, suffix: string, least?: Rates): Rates | string {
  const read = (key: string) => (key in model ? microsPerMtok(model[key]) : undefined);
  const inputPerMtok = read(`input_cost_per_token${suffix}`);
  if (inputPerMtok === undefined) return 'it has no price for input';
  const outputPerMtok = read(`output_cost_per_token${suffix}`) ?? 0;
  const cachedInputPerMtok = read(`cache_read_input_token_cost${suffix}`) ?? inputPerMtok;
  const rates = { inputPerMtok, outputPerMtok, cachedInputPerMtok };
  if (Object.values(rates).some(Number.isNaN))
    return 'a price is no whole number of micro-dollars for a million tokens';
  return dearerOf(rates, least ?? rates);
}

function rowOf(name: string, { inputPerMtok, outputPerMtok, cachedInputPerMtok, beyond }: ModelPrice): PriceRow {
  const row = [name, inputPerMtok, outputPerMtok, cachedInputPerMtok] as const;
  if (beyond === undefined) return row;
  return [...row, [beyond.inputTokens, beyond.inputPerMtok, beyond.outputPerMtok, beyond.cachedInputPerMtok]];
}

/**
 * Dollars for one token, as a decimal text, in micro-dollars for a million tokens: twelve digits further, digit by
 * digit. NaN if that is not exact.
 */
export function microsPerMtok(perToken: unknown): number {
  const [, whole, fraction = '', exponent = '0'] =
    /^(\d{1,12})(?:\.(\d{1,40}))?(?:[eE]([-+]?\d{1,2}))?$/.exec(String(perToken)) ?? [];
  if (whole === undefined) return Number.NaN;
  const shift = 12 + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) return Number.NaN;
  const micros = Number(shift < 0 ? digits / scale : digits * scale);
  return Number.isSafeInteger(micros) ? micros : Number.NaN;
}

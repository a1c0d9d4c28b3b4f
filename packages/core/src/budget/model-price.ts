import type { Micros } from '../kernel/index.ts';

/** Micro-dollars per million tokens. */
export interface Rates {
  readonly inputPerMtok: Micros;
  readonly outputPerMtok: Micros;
  /** Of input tokens that the model had seen before. */
  readonly cachedInputPerMtok: Micros;
}

export interface ModelPrice extends Rates {
  /** What counts, for the whole call, if its input has more than `inputTokens`. */
  readonly beyond?: Rates & { readonly inputTokens: number };
}

/** A price that is below neither of two, however large a call is. */
export function dearerOf(one: ModelPrice, other: ModelPrice): ModelPrice {
  const base = highest(one, other);
  if (one.beyond === undefined && other.beyond === undefined) return base;
  const inputTokens = Math.min(one.beyond?.inputTokens ?? Infinity, other.beyond?.inputTokens ?? Infinity);
  return { ...base, beyond: { inputTokens, ...highest(base, highest(one.beyond ?? one, other.beyond ?? other)) } };
}

function highest(one: Rates, other: Rates): Rates {
  return {
    inputPerMtok: Math.max(one.inputPerMtok, other.inputPerMtok),
    outputPerMtok: Math.max(one.outputPerMtok, other.outputPerMtok),
    cachedInputPerMtok: Math.max(one.cachedInputPerMtok, other.cachedInputPerMtok),
  };
}

/** Micro-dollars for a million tokens: input, output, cached input. The last part counts beyond so many input tokens. */
export type PriceRow = readonly [
  model: string,
  input: number,
  output: number,
  cachedInput: number,
  beyond?: readonly [inputTokens: number, input: number, output: number, cachedInput: number],
];

/** What "npm run prices" writes. */
export interface PriceTable {
  /** The day on which the prices were taken from their source. */
  readonly asOf: string;
  readonly source: {
    readonly package: string;
    readonly version: string;
    readonly file: string;
    readonly sha256: string;
    readonly licence: string;
  };
  readonly rows: readonly PriceRow[];
}

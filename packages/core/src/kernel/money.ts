import { invalid } from './errors.ts';

/** Money is counted in millionths of a US dollar, as integers, and never as a fraction. */
export type Micros = number;

/**
 * A sum of amounts. One amount is bounded, a sum is not. It is a bigint only beyond the safe integers, so that equal
 * totals are `===` and comparing is as cheap as with numbers. The type forbids arithmetic: `+` and `*` do not compile,
 * `plus` and the functions beside it do.
 */
export type Total = number | bigint;

export const microsPerUsd = 1_000_000;

/** The most that a cap may be. */
export const mostMicros = 1_000_000_000 * microsPerUsd;

/** The most that a million tokens may cost. The most tokens that fit a message then still cost an exact amount. */
export const mostPriceMicros = 1_000_000 * microsPerUsd;

/** The most that one action may cost, unless the operator says otherwise. */
export const usualMostActionMicros = 1000 * microsPerUsd;

export function plus(total: Total, other: Total): Total {
  if (typeof total === 'number' && typeof other === 'number') {
    const sum = total + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return totalOf(BigInt(total) + BigInt(other));
}

export function minus(total: Total, other: Total): Total {
  return plus(total, -other);
}

/** Whether a total is at least `percent` percent of another. */
export function isShareOf(total: Total, percent: number, whole: Total): boolean {
  // Unless the two are nearly equal, plain numbers are exact enough.
  const difference = Number(total) * 100 - Number(whole) * percent;
  if (Math.abs(difference) > Math.abs(Number(whole)) * 1e-6) return difference > 0;
  return BigInt(total) * 100n >= BigInt(whole) * BigInt(percent);
}

/** Dollars with fractions, for conditions and forecasts, which need no exact total. */
export function approximateUsd(total: Total): number {
  return Number(total) / microsPerUsd;
}

/** A total in JSON: a number, or a text of digits if a number would not be exact. */
export function totalJson(total: Total): number | string {
  return typeof total === 'number' ? total : String(total);
}

export function totalOfJson(json: number | string): Total {
  return typeof json === 'number' && Number.isSafeInteger(json) ? json : totalOf(BigInt(json));
}

function totalOf(sum: bigint): Total {
  const number = Number(sum);
  return Number.isSafeInteger(number) ? number : sum;
}

/** Dollars as a person writes them, `12.5`. Undefined if it is no amount. Fractions of a micro are rounded up. */
export function microsOfUsd(usd: number): Micros | undefined {
  if (!Number.isFinite(usd) || usd < 0 || usd * microsPerUsd > mostMicros) return undefined;
  // Rounding to nine decimals of a dollar removes the error of the multiplication, as in 0.1 * 1e6.
  return Math.ceil(Number((usd * microsPerUsd).toFixed(3)));
}

/**
 * Dollars as text, `-1.50`, digit by digit. Undefined if it is no amount, finer than a micro, or over 12 whole digits.
 */
export function parseUsd(text: string): Total | undefined {
  const [, sign = '', whole, fraction = ''] = /^([-+]?)(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = totalOf(BigInt(`${whole}${fraction.padEnd(6, '0')}`));
  return sign === '-' ? minus(0, micros) : micros;
}

/** A decimal text without needless zeros, but with cents: `1.37`, `0.000042`, `12.00`. */
export function usdOfMicros(micros: Total): string {
  const sign = micros < 0 ? '-' : '';
  const digits = String(micros < 0 ? -micros : micros).padStart(7, '0');
  const fraction = digits.slice(-6);
  return `${sign}${digits.slice(0, -6)}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/(?<!0)0+$/, '')}`;
}

/** One action must not exhaust what everybody shares, so its cost has a bound of its own beside all caps. */
export function checkCost(field: string, micros: number, mostMicros: Micros): void {
  if (micros < 0) throw invalid(field, 'must not be negative');
  if (!Number.isInteger(micros)) throw invalid(field, 'must be a whole number of micro-dollars');
  if (micros > mostMicros) throw invalid(field, `must be at most ${mostMicros} (${usdOfMicros(mostMicros)} USD)`);
}

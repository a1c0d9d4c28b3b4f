/** Money is counted in millionths of a US dollar, as integers, and never as a fraction. */
export type Micros = number;

export const microsPerUsd = 1_000_000;

/** The most that an amount may be: all sums of such amounts that a gateway could meet stay exact. */
export const mostMicros = 1_000_000_000 * microsPerUsd;

/** Dollars as a person writes them, `12.5`; undefined where it is no amount. What is finer than a micro is rounded up. */
export function microsOfUsd(usd: number): Micros | undefined {
  if (!Number.isFinite(usd) || usd < 0 || usd * microsPerUsd > mostMicros) return undefined;
  // 0.1 * 1e6 is exact enough that rounding to nine digits takes the error of the multiplication away.
  return Math.ceil(Number((usd * microsPerUsd).toFixed(3)));
}

/** A decimal text without needless zeros, but with cents: `1.37`, `0.000042`, `12.00`. */
export function usdOfMicros(micros: Micros): string {
  const sign = micros < 0 ? '-' : '';
  const whole = Math.floor(Math.abs(micros) / microsPerUsd);
  const fraction = String(Math.abs(micros) % microsPerUsd).padStart(6, '0');
  return `${sign}${whole}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')}`;
}

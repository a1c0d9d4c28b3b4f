import type { Micros, Total } from '../kernel/index.ts';
import type { Period } from './period.ts';
import type { TierOf } from './tier.ts';

/** A share of a cap that is used up for the first time in its period. */
export interface Approached {
  readonly of: TierOf;
  readonly period: Period;
  readonly percent: number;
  readonly limitMicros: Micros;
  readonly totalMicros: Total;
}

/** What a change adds to each of its balances. */
export interface Delta {
  readonly reserved: Total;
  readonly settled: Readonly<Record<Period, Total>>;
}

/** The shares of a cap, in percent, at which somebody is told once per period. */
export const thresholds = [80, 95] as const;

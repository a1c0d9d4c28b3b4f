import type { Undo } from '../journal/index.ts';
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
  /** The share that somebody had been told about before. */
  readonly before: number;
}

/** What a change adds to each of its balances. */
export interface Delta {
  readonly reserved: Total;
  readonly settled: Readonly<Record<Period, Total>>;
}

export const nothing: Delta['settled'] = { day: 0, month: 0 };

/** The result of a change: how to undo it, which shares of caps it used up, and the day it was booked to. */
export interface Booked {
  readonly undo: Undo;
  readonly approached: readonly Approached[];
  readonly day: string;
}

/** The shares of a cap, in percent, at which somebody is told once per period. */
export const thresholds = [80, 95] as const;

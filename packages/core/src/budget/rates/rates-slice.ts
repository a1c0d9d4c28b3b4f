import type { AgentId, EpochMs } from '../../kernel/index.ts';
import type { RateKey } from './rate.ts';
import type { SavedCounts } from './rate-counter.ts';

/** A check that was allowed or held counts for rates. */
export interface RatesCounted {
  readonly kind: 'rates_counted';
  readonly agent: AgentId;
  readonly at: EpochMs;
  readonly counted: readonly RateKey[];
  /** Of which shares somebody is told. */
  readonly told?: readonly { readonly key: RateKey; readonly percent: number }[];
}

/** A counter as the store keeps it. */
export interface SavedRate {
  /** The tenant, and what is counted. */
  readonly name: string;
  /** Null if nothing counts any more: its row is removed. */
  readonly counts: SavedCounts | null;
  /** Entries of the log up to this one are in it. */
  readonly seq: number;
}

/** Counters were saved. */
export interface RatesSaved {
  readonly kind: 'rates_saved';
  readonly saved: readonly SavedRate[];
  /** All counters are true up to this entry from now on. Null before the last step of a save. */
  readonly asOf: number | null;
}

export type RatesChange = RatesCounted | RatesSaved;

/** The rates that a start loads, before it adds the later log entries. */
export interface RatesSnapshot {
  readonly rates: readonly SavedRate[];
  /** The entry up to which they are true. Null if none were saved yet. */
  readonly ratesMark: number | null;
}

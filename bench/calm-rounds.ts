import type { LoadResult } from './load-protocol.ts';

/** Two servers, measured one right after the other. */
export interface Pair {
  /** The base of the comparison: the echo, or the small gateway. */
  readonly base: LoadResult;
  readonly tested: LoadResult;
}

export interface CalmPairs {
  readonly pairs: readonly Pair[];
  /** How many more pairs were left out because other processes disturbed them. */
  readonly leftOut: number;
}

/** How many cores others may take before a round counts as disturbed. */
const calm = 0.1;

/**
 * Measures pairs until `wanted` of them are calm, at most twice as many. On a busy machine it keeps the calmest: the
 * choice depends on what others did, never on the result.
 */
export async function calmPairs(wanted: number, measure: () => Promise<Pair>): Promise<CalmPairs> {
  const pairs: Pair[] = [];
  while (pairs.length < wanted * 2 && pairs.filter((pair) => disturbance(pair) <= calm).length < wanted) {
    pairs.push(await measure());
  }
  const kept = pairs.toSorted((a, b) => disturbance(a) - disturbance(b)).slice(0, wanted);
  return { pairs: kept, leftOut: pairs.length - kept.length };
}

function disturbance({ base, tested }: Pair): number {
  return Math.max(base.othersCores, tested.othersCores);
}

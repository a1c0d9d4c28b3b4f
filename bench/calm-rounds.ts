import type { LoadResult } from './load-protocol.ts';

/** Two servers, measured one right after the other. */
export interface Pair {
  /** What is compared with: the echo, or the small gateway. */
  readonly base: LoadResult;
  readonly tested: LoadResult;
}

export interface CalmPairs {
  readonly pairs: readonly Pair[];
  /** How many more were measured and left out, because somebody else was at work. */
  readonly leftOut: number;
}

/** Cores that others may take before a round counts as disturbed. */
const calm = 0.1;

/**
 * Measures pairs until there are `wanted` calm ones, and at most twice as many. On a machine that others use the
 * calmest are kept: the choice looks at what others did, never at the result.
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

import type { LoadResult } from './load-protocol.ts';
import { fixed } from './table.ts';

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

export interface CalmRounds<Round> {
  readonly rounds: readonly Round[];
  /** How many more were left out because other processes disturbed them. */
  readonly leftOut: number;
}

/** Two servers, round by round. */
export async function calmPairs(wanted: number, measure: () => Promise<Pair>): Promise<CalmPairs> {
  const { rounds, leftOut } = await calmRounds(wanted, measure, ({ base, tested }) => [base, tested]);
  return { pairs: rounds, leftOut };
}

/**
 * Measures rounds until `wanted` of them are calm, at most twice as many. On a busy machine it keeps the calmest: the
 * choice depends on what others did, never on the result.
 */
export async function calmRounds<Round>(
  wanted: number,
  measure: () => Promise<Round>,
  resultsOf: (round: Round) => readonly LoadResult[],
): Promise<CalmRounds<Round>> {
  const disturbance = (round: Round) => Math.max(...resultsOf(round).map(({ othersCores }) => othersCores));
  const rounds: Round[] = [];
  while (rounds.length < wanted * 2 && rounds.filter((round) => disturbance(round) <= calm).length < wanted) {
    rounds.push(await measure());
  }
  const kept = rounds.toSorted((a, b) => disturbance(a) - disturbance(b)).slice(0, wanted);
  return { rounds: kept, leftOut: rounds.length - kept.length };
}

/** How much others took of the machine in the rounds that count. */
export function othersLine(othersCores: readonly number[], leftOut: number): string {
  const most = fixed(Math.max(0, ...othersCores), 2);
  return `Others, the host of a virtual machine among them, took up to ${most} cores in the rounds that count; ${leftOut} rounds were disturbed more and left out.`;
}

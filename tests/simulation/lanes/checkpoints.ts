import type { AnyCommit, CommonCommit, LaneCommit } from './lane-facts.ts';
import type { Rules } from './lane-rules.ts';
import type { Sealed } from './sealed.ts';
import { noHash, sealed } from './sealed.ts';

/** How far a log had come, and the hash of its newest commit. */
interface Place {
  readonly count: number;
  readonly hash: string;
}

/** Binds the chains of all lanes into one: none can be left out or cut off below it. */
export type Checkpoint = Sealed<{
  readonly number: number;
  readonly common: Place;
  readonly lanes: readonly (readonly [lane: number, place: Place])[];
}>;

/** All logs, as checkpoints bind them. */
interface Logs {
  readonly rules: Rules;
  readonly common: readonly CommonCommit[];
  readonly lanes: ReadonlyMap<number, { readonly commits: readonly LaneCommit[] }>;
  readonly checkpoints: readonly Checkpoint[];
}

/** The next checkpoint. The real one names only lanes that have moved since the one before. */
export function checkpointOf(
  { lanes, common: log, checkpoints, rules }: Logs,
  heads: ReadonlyMap<number, number>,
  common: number,
): Checkpoint {
  const places = [...heads].map(([lane, count]) => [lane, placeOf(lanes.get(lane)?.commits ?? [], count)] as const);
  const made = { number: checkpoints.length + 1, common: placeOf(log, common), lanes: places };
  return sealed(made, (rules.chainsCheckpoints ? checkpoints.at(-1)?.hash : undefined) ?? noHash);
}

function placeOf(commits: readonly { readonly hash: string }[], count: number): Place {
  return { count, hash: commits[count - 1]?.hash ?? noHash };
}

/** What one checkpoint covers and the one before does not, in the order in which everybody reads it. */
export function entriesBetween(
  { lanes, common, rules }: Logs,
  before: Checkpoint | undefined,
  { common: newest, lanes: heads }: Checkpoint,
): AnyCommit[] {
  const counted = new Map(before?.lanes);
  const entries: AnyCommit[] = common.slice(before?.common.count ?? 0, newest.count);
  for (const [lane, { count }] of heads) {
    entries.push(...(lanes.get(lane)?.commits.slice(counted.get(lane)?.count ?? 0, count) ?? []));
  }
  return entries.sort((one, other) => compare(one, other, rules));
}

/** A common commit stands before what rests on it, and after what does not know it. */
function compare(one: AnyCommit, other: AnyCommit, { ordersByCommon, ordersByMoments }: Rules): number {
  return (
    (ordersByCommon ? one.common - other.common : 0) ||
    Number(other.lane === 'common') - Number(one.lane === 'common') ||
    (ordersByMoments ? one.moment - other.moment : 0) ||
    Number(one.lane) - Number(other.lane) ||
    one.version - other.version
  );
}

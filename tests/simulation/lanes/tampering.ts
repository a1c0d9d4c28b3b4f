import type { Random } from '../random.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { LaneCommit } from './lane-facts.ts';
import type { ExportedLogs } from './verify-logs.ts';
import { noHash, sealed } from './sealed.ts';

/**
 * What somebody may do who can write all tables. They seal everything anew, and only what was kept elsewhere tells. What
 * is newer than the last checkpoint can be cut off, as what is newer than the last anchor can today.
 */
export function tamper(logs: ExportedLogs, random: Random): { readonly how: string; readonly logs: ExportedLogs } {
  const { common, checkpoints } = logs;
  const lanes = new Map(logs.lanes);
  const last = checkpoints.at(-1);
  const [lane, { count }] = random.pick(last?.lanes.filter(([, place]) => place.count > 0) ?? []);
  const commits = lanes.get(lane) ?? [];
  const nth = random.int(count);
  const changed = { common, lanes, checkpoints };
  switch (random.int(5)) {
    case 0:
      lanes.delete(lane);
      return { how: 'a lane is left out', logs: changed };
    case 1:
      lanes.set(lane, commits.slice(0, nth));
      return { how: 'the end of a lane is cut off', logs: changed };
    case 2:
      lanes.set(lane, withoutNth(commits, nth));
      return { how: 'a commit is left out and its lane sealed anew', logs: changed };
    case 3:
      return { how: 'the newest checkpoint is left out', logs: { ...changed, checkpoints: checkpoints.slice(0, -1) } };
    default: {
      const moved = withMovedPlace(checkpoints, lane);
      return { how: 'commits are moved to a later checkpoint', logs: { ...changed, checkpoints: moved } };
    }
  }
}

/** A lane without one of its commits, as a chain that fits. */
function withoutNth(commits: readonly LaneCommit[], nth: number): LaneCommit[] {
  const kept: LaneCommit[] = [];
  for (const { previous: _, hash: __, ...commit } of commits.toSpliced(nth, 1)) {
    kept.push(sealed({ ...commit, version: kept.length + 1 }, kept.at(-1)?.hash ?? noHash));
  }
  return kept;
}

/** The first checkpoint that names more of a lane than the one before names no more than that one, and all are sealed anew. */
function withMovedPlace(checkpoints: readonly Checkpoint[], lane: number): Checkpoint[] {
  const made: Checkpoint[] = [];
  let isMoved = false;
  for (const [nth, { previous, hash: _, ...named }] of checkpoints.entries()) {
    const before = new Map(made.at(-1)?.lanes).get(lane);
    const isHere = !isMoved && nth < checkpoints.length - 1 && before !== undefined;
    const places = named.lanes.map(([other, place]) => {
      if (!isHere || other !== lane || place.count === before.count) return [other, place] as const;
      isMoved = true;
      return [other, before] as const;
    });
    made.push(sealed({ ...named, lanes: places }, previous === noHash ? noHash : (made.at(-1)?.hash ?? noHash)));
  }
  // Where nothing can be moved, the newest one is left out.
  return isMoved ? made : made.slice(0, -1);
}

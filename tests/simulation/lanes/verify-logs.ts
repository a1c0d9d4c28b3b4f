import type { Checkpoint } from './checkpoints.ts';
import type { CommonCommit, LaneCommit } from './lane-facts.ts';
import type { Rules } from './lane-rules.ts';
import type { LanesDatabase } from './lanes-database.ts';
import type { Sealed } from './sealed.ts';
import { isSealed, noHash } from './sealed.ts';

/** Everything that a verifier is given. */
export interface ExportedLogs {
  readonly common: readonly CommonCommit[];
  readonly lanes: ReadonlyMap<number, readonly LaneCommit[]>;
  readonly checkpoints: readonly Checkpoint[];
}

export function exportOf({ common, lanes, checkpoints }: LanesDatabase): ExportedLogs {
  const commits = [...lanes].map(([lane, kept]) => [lane, [...kept.commits]] as const);
  return { common: [...common], lanes: new Map(commits), checkpoints: [...checkpoints] };
}

/** What is wrong with the logs, if anything. `anchor` is the hash of a checkpoint that was kept elsewhere. */
export function faultOf(
  { common, lanes, checkpoints }: ExportedLogs,
  anchor: string | undefined,
  { chainsCheckpoints }: Rules,
): string | undefined {
  const opened = common.flatMap(({ facts }) => facts.flatMap((fact) => (fact.kind === 'lane_opened' ? fact.lane : [])));
  const missing = opened.find((lane) => !lanes.has(lane));
  if (missing !== undefined) return `lane ${missing} is missing`;
  if (!isChain(common)) return 'the common log is no chain';
  for (const [lane, commits] of lanes) if (!isChain(commits)) return `lane ${lane} is no chain`;
  if (!(chainsCheckpoints ? isChain(checkpoints) : checkpoints.every(isSealed))) return 'the checkpoints are no chain';
  if (anchor !== undefined && !checkpoints.some(({ hash }) => hash === anchor))
    return 'the anchored checkpoint is missing';
  let before: Checkpoint | undefined;
  for (const checkpoint of checkpoints) {
    if (common[checkpoint.common.count - 1]?.hash !== checkpoint.common.hash) return 'the common log differs';
    const fault = faultOfPlaces(checkpoint, before, lanes);
    if (fault !== undefined) return `${fault} at checkpoint ${checkpoint.number}`;
    before = checkpoint;
  }
  return undefined;
}

function faultOfPlaces(
  checkpoint: Checkpoint,
  before: Checkpoint | undefined,
  lanes: ExportedLogs['lanes'],
): string | undefined {
  const counted = new Map(before?.lanes);
  for (const [lane, { count, hash }] of checkpoint.lanes) {
    if (count < (counted.get(lane)?.count ?? 0)) return `lane ${lane} goes back`;
    if ((lanes.get(lane)?.[count - 1]?.hash ?? noHash) !== hash) return `lane ${lane} differs`;
  }
  return undefined;
}

function isChain(links: readonly Sealed<object>[]): boolean {
  return links.every((link, nth) => link.previous === (links[nth - 1]?.hash ?? noHash) && isSealed(link));
}

/**
 * The rules of lanes, as docs/scale.md gives them. Each can be left out, to see that its absence is noticed. A rule that
 * nobody would miss has no place here.
 */
export interface Rules {
  /** A commit to a lane succeeds only on top of the lane's newest commit. */
  readonly comparesLane: boolean;
  /** It succeeds only if it rests on the newest version of the common log. */
  readonly comparesCommon: boolean;
  /** Nobody is answered before the commit. */
  readonly answersAfterCommit: boolean;
  /** What answers without a commit asks the database for newer ones first. */
  readonly asksBeforeAnswering: boolean;
  /** What counts is whether anything has changed since it was decided, also by a message meanwhile. */
  readonly asksSinceDecided: boolean;
  /** A common fact takes effect in a lane where the first commit that knows it stands. */
  readonly commonReachesLanes: boolean;
  /** Who takes up a lane applies the commits after its saved rows. */
  readonly takesUpWhole: boolean;
  /** A lower cap voids the shares that were taken before it. */
  readonly lowerCapVoids: boolean;
  /** What an operation did not need goes back to all, and is not charged again by its lane. */
  readonly refundsGoToAll: boolean;
  /** What an operation costs beyond its reservation is taken from the lane's share, then from what is free. */
  readonly overrunsAreTaken: boolean;
  /** Such a settlement is a commit of its own. */
  readonly overrunsAlone: boolean;
  /** If less than that is free, the shares of all lanes are void. */
  readonly overdraftVoids: boolean;
  /** What one lane lacks is taken from those that do not use theirs, before anybody is denied. */
  readonly recallsBeforeDenying: boolean;
  /** A share is recalled by a commit of the lane that had it. */
  readonly recallsByCommit: boolean;
  /** A denial stands only on the version of its lane that was read when there was no room. */
  readonly denialsRestOnRead: boolean;
  /** A share belongs to one day. */
  readonly sharesEndWithDay: boolean;
  /** A checkpoint reads all heads at one moment. */
  readonly checkpointsAreCuts: boolean;
  /** Within a checkpoint, entries stand by the version of the common log that they rest on. */
  readonly ordersByCommon: boolean;
  /** Then by moments: after those of other lanes whose shares they use. */
  readonly ordersByMoments: boolean;
  /** Readers of all lanes see nothing that is newer than the last checkpoint. */
  readonly showsCheckpointed: boolean;
  /** A checkpoint names the hash of the one before it. */
  readonly chainsCheckpoints: boolean;
  /** A checkpoint is refused if another one was made since. */
  readonly comparesCheckpoint: boolean;
}

export const allRules: Rules = {
  comparesLane: true,
  comparesCommon: true,
  answersAfterCommit: true,
  asksBeforeAnswering: true,
  asksSinceDecided: true,
  commonReachesLanes: true,
  takesUpWhole: true,
  lowerCapVoids: true,
  refundsGoToAll: true,
  overrunsAreTaken: true,
  overrunsAlone: true,
  overdraftVoids: true,
  recallsBeforeDenying: true,
  recallsByCommit: true,
  denialsRestOnRead: true,
  sharesEndWithDay: true,
  checkpointsAreCuts: true,
  ordersByCommon: true,
  ordersByMoments: true,
  showsCheckpointed: true,
  chainsCheckpoints: true,
  comparesCheckpoint: true,
};

export type Rule = keyof Rules;

export const ruleNames = Object.keys(allRules) as Rule[];

export function without(name: string): Rules {
  const rule = ruleNames.find((known) => known === name);
  if (rule === undefined) throw new Error(`there is no rule ${name}; there are ${ruleNames.join(', ')}`);
  return { ...allRules, [rule]: false };
}

import type { Typed } from './meaning.ts';
import type { ForeignCommit, Sharing, Touch, Touched } from './shared-log.ts';
import { factOf, restsOn, Touches } from './shared-log.ts';
import type { Part, Tick } from './tick.ts';

/** If turns do not come to rest after this many times, something is wrong with their guards. */
const mostRounds = 10;

/** What following commits works on. */
export interface Overtaking<Change, Event extends Typed> {
  readonly sharing: Sharing<Change, Event>;
  readonly touchOf: (fact: Change | Event) => Touch;
  /** What is not committed yet, in order. A turn that is done again may add to it. */
  readonly ticks: () => readonly Tick<Change, Event>[];
  /** Called after each commit. Returns how many were followed so far. */
  readonly onFollowed: (commit: ForeignCommit<Change, Event>) => number;
}

/**
 * Applies the commits of others. Before each, it takes back our turns that rest on what the commit changes, and the turns
 * that rest on those. Afterwards these run again, on top of the turns that stand. Returns how many ran again.
 */
export function followCommits<Change, Event extends Typed>(
  work: Overtaking<Change, Event>,
  commits: readonly ForeignCommit<Change, Event>[],
): number {
  const { sharing } = work;
  const again: Part<Change, Event>[] = [];
  let followed = 0;
  let repeated = 0;
  for (const commit of commits) {
    const isRefused = ({ guards }: Part<Change, Event>) => guards.some((guard) => !guard(commit));
    const rests = (part: Part<Change, Event>) => restsOn(touchedBy(work, part), commit.touched);
    again.push(...takeBack(work, (part) => rests(part) || isRefused(part)));
    sharing.follow(commit);
    followed = work.onFollowed(commit);
  }
  // What was done again knows all commits.
  const stands = ({ conditions, knowing }: Part<Change, Event>) =>
    knowing === followed || conditions.every((condition) => condition());
  if (commits.length > 0) again.push(...takeBack(work, (part) => !stands(part)));
  for (let round = 0; again.length > 0; round++) {
    if (round === mostRounds) throw new Error('turns that were overtaken do not come to rest');
    repeated += again.length;
    for (const { by } of again.splice(0)) by?.run();
    again.push(...takeBack(work, (part) => !stands(part)));
  }
  return repeated;
}

/** Takes back the parts that fit, and all later ones that rest on them. Returns them in order. */
function takeBack<Change, Event extends Typed>(
  work: Overtaking<Change, Event>,
  fits: (part: Part<Change, Event>) => boolean,
): Part<Change, Event>[] {
  const { ticks } = work;
  const gone: Part<Change, Event>[] = [];
  for (const part of ticks().flatMap(({ parts }) => parts)) {
    if (part.by === undefined) continue;
    const touched = touchedBy(work, part);
    const rests = (before: Part<Change, Event>) => part.restsOnAll || restsOn(touched, touchedBy(work, before));
    if (fits(part) || gone.some(rests)) gone.push(part);
  }
  if (gone.length === 0) return gone;
  for (const part of gone.toReversed()) for (const undo of part.undos.reverse()) undo();
  const taken = new Set(gone);
  for (const tick of ticks()) tick.parts = tick.parts.filter((part) => !taken.has(part));
  return gone;
}

function touchedBy<Change, Event extends Typed>(
  { touchOf }: Pick<Overtaking<Change, Event>, 'touchOf'>,
  part: Part<Change, Event>,
): Touched {
  if (part.touched === undefined) {
    const touches = new Touches();
    for (const step of part.steps) touches.add(touchOf(factOf(step)));
    part.touched = touches.all;
  }
  return part.touched;
}

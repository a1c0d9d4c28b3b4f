import type { FactPorts, Typed } from './meaning.ts';
import type { Trace } from './footprint.ts';
import { Footprint } from './footprint.ts';
import type { ForeignCommit, Sharing } from './shared-log.ts';
import { factOf } from './shared-log.ts';
import type { Part, Tick } from './tick.ts';

/** Turns that wait for one another in a longer chain than this are all done again at once. */
const mostRounds = 10;

/** What following commits works on. */
export interface Overtaking<Change, Event extends Typed> {
  readonly sharing: Sharing<Change, Event>;
  readonly facts: Pick<FactPorts<Change | Event>, 'touchOf' | 'altersOf' | 'claimsOf'>;
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
    let changes: Footprint | undefined;
    again.push(...takeBack(work, ({ rests }) => rests.restsOn((changes ??= changesOf(work, commit)))));
    sharing.follow(commit);
    followed = work.onFollowed(commit);
  }
  // What was done again knows all commits.
  const stands = ({ conditions, changes }: Trace, { knowing }: Part<Change, Event>) =>
    knowing === followed || conditions.every((condition) => condition(changes.names));
  if (commits.length > 0) again.push(...takeBack(work, (trace, part) => !stands(trace, part)));
  for (let round = 0; again.length > 0; round++) {
    repeated += again.length;
    for (const { by } of again.splice(0)) by?.run();
    const isLong = round >= mostRounds;
    again.push(...takeBack(work, (trace, part) => (isLong ? part.knowing < followed : !stands(trace, part))));
  }
  return repeated;
}

/** Takes back the parts that fit, and all later ones that rest on them. Returns them in order. */
function takeBack<Change, Event extends Typed>(
  work: Overtaking<Change, Event>,
  fits: (trace: Trace, part: Part<Change, Event>) => boolean,
): Part<Change, Event>[] {
  const { ticks } = work;
  const gone: Part<Change, Event>[] = [];
  const changed = new Footprint();
  for (const part of ticks().flatMap(({ parts }) => parts)) {
    if (part.trace === undefined) continue;
    if (!fits(part.trace, part) && !part.trace.rests.restsOn(changed)) continue;
    gone.push(part);
    changed.addAll(part.trace.changes);
  }
  if (gone.length === 0) return gone;
  for (const part of gone.toReversed()) for (const undo of part.undos.reverse()) undo();
  const taken = new Set(gone);
  for (const tick of ticks()) tick.parts = tick.parts.filter((part) => !taken.has(part));
  return gone;
}

function changesOf<Change, Event extends Typed>(
  { facts }: Overtaking<Change, Event>,
  { steps, touched, unread }: ForeignCommit<Change, Event>,
): Footprint {
  const changes = new Footprint();
  for (const step of steps) changes.addFact(facts, factOf(step));
  changes.addTouched(touched);
  if (unread.length > 0) changes.addUnknown();
  return changes;
}

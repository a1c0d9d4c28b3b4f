import type { Noting } from '../journal/index.ts';
import { eachNoted, watched } from '../journal/index.ts';
import type { InRun } from './run.ts';
import { nameOfPlace, runName } from './run.ts';
import type { KnownRuns, RunRegistry } from './run-registry.ts';

/**
 * Which runs are forgotten. A save rests on it: a row of one that was forgotten meanwhile would bring it back, and one that
 * was forgotten in vain would lack its row.
 */
export const forgottenRuns = 'forgotten runs';

/** What a run has counted, under the name by which turns rest on it. */
export function countsName(name: string): string {
  return `run ${name}`;
}

/** What a first check changes. */
export function countsOf(op: InRun): string {
  return countsName(runName(op));
}

/** Notes what rules read of runs. Checks commute, unless a condition looks at what was counted. */
export function watchedRuns(runs: RunRegistry, journal: Noting): RunRegistry {
  const rest = (name: string) => journal.reads({ name: countsName(name) });
  const seen: KnownRuns = {
    of: (op) => {
      rest(runName(op));
      return runs.of(op);
    },
    find: (place) => {
      rest(nameOfPlace(place));
      return runs.find(place);
    },
    all: () => eachNoted(runs.all(), ({ name }) => rest(name)),
    // Nothing may have happened in those that are forgotten.
    toMakeRoom: (op, now) => {
      const found = runs.toMakeRoom(op, now);
      for (const { name } of found) rest(name);
      return found;
    },
    toForget: (now) => eachNoted(runs.toForget(now), (run) => run && rest(run.name)),
    toSave: (most, seq) => {
      journal.reads({ name: forgottenRuns });
      return runs.toSave(most, seq);
    },
  };
  return watched(runs, seen);
}

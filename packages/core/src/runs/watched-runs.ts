import type { Noting } from '../journal/index.ts';
import { eachNoted, watched } from '../journal/index.ts';
import type { LabelBearer } from './label.ts';
import { bearerName, bearersOf } from './label.ts';
import type { InRun, Run, RunPlace } from './run.ts';
import { nameOfPlace, placeOfRun, runName } from './run.ts';
import type { KnownLabels, KnownRuns } from './known-runs.ts';
import type { LabelRegistry } from './label-registry.ts';
import type { RunRegistry } from './run-registry.ts';

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

/** Whether anything is under way in a run, as far as it ends. What begins there is counted. */
function endsName(name: string): string {
  return `under way in run ${name}`;
}

/** What the end of an operation changes. */
export function endsIn(op: InRun): string {
  return endsName(runName(op));
}

/** Which labels somebody bears. It is no part of what is counted: most checks of a labelled run change nothing of it. */
export function labelsName(bearer: LabelBearer): string {
  return `labels of ${bearerName(bearer)}`;
}

/** How many runs of an org, or agents of a team, bear labels. */
export function labelledName({ of, place: { orgId, teamId } }: LabelBearer): string {
  return of === 'run' ? `labelled runs of ${orgId}` : `labelled agents of ${orgId}/${teamId}`;
}

/** Whether a run was forgotten. */
export function forgottenName(place: RunPlace): string {
  return `forgotten run ${nameOfPlace(place)}`;
}

/** Notes what rules read of runs. Checks commute, unless a condition looks at what was counted. */
export function watchedRuns(runs: RunRegistry, journal: Noting): RunRegistry {
  const rest = (name: string) => journal.reads({ name: countsName(name) });
  /** Nothing may have happened in those that are forgotten, and all that was under way there must have ended. */
  const restOnQuiet = ({ name }: Run) => {
    rest(name);
    journal.reads({ name: endsName(name) });
  };
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
    toMakeRoom: (op, now) => {
      const found = runs.toMakeRoom(op, now);
      for (const run of found) restOnQuiet(run);
      return found;
    },
    toForget: (now) => eachNoted(runs.toForget(now), (run) => run && restOnQuiet(run)),
    toSave: (most, seq) => {
      journal.reads({ name: forgottenRuns });
      return runs.toSave(most, seq);
    },
    labels: watchedLabels(runs.labels, journal),
    forgotten: (op) => {
      journal.reads({ name: forgottenName(placeOfRun(op)) });
      return runs.forgotten(op);
    },
    // One that is named twice is dropped once.
    namesBeyond: (places) => runs.namesBeyond(places),
  };
  return watched(runs, seen);
}

function watchedLabels(labels: LabelRegistry, journal: Noting): LabelRegistry {
  const rest = (bearer: LabelBearer) => journal.reads({ name: labelsName(bearer) });
  const seen: KnownLabels = {
    in: (op) => {
      for (const bearer of bearersOf(op)) rest(bearer);
      return labels.in(op);
    },
    of: (bearer) => {
      rest(bearer);
      return labels.of(bearer);
    },
    // Labels of different bearers commute as long as there is room for all.
    mayLabel: (bearer) => {
      const may = labels.mayLabel(bearer);
      if (may) journal.onlyWhile(() => labels.isWithinBounds(bearer));
      else journal.reads({ name: labelledName(bearer) });
      return may;
    },
    // Whoever leaves a team with labels is remembered. Of labels that come at the same moment, it has left before.
    hasTeam: (team) => labels.hasTeam(team),
    get isEmpty() {
      return labels.isEmpty;
    },
    get newestAt() {
      return labels.newestAt;
    },
  };
  return watched(labels, seen);
}

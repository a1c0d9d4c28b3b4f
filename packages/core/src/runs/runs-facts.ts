import type { Meanings } from '../journal/index.ts';
import { touchesNobody } from '../journal/index.ts';
import type { RunRegistry } from './run-registry.ts';
import { nameOfPlace } from './run.ts';
import { forgottenWrites, savedWrites } from './runs-rows.ts';
import type { RunsChange } from './runs-slice.ts';
import { countsName, forgottenRuns } from './watched-runs.ts';

interface State {
  readonly runs: RunRegistry;
}

/** Checks count for their run by the facts of their operations (`ops/ops-facts.ts`). */
export const runsFacts: Meanings<State, RunsChange> = {
  runs_saved: {
    apply: ({ runs }, change, how) => runs.applySaved(change, how),
    touch: touchesNobody,
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    claims: () => ['save of runs'],
    rows: savedWrites,
  },
  runs_forgotten: {
    apply: ({ runs }, change) => runs.forget(change.runs),
    touch: touchesNobody,
    alters: ({ runs }) => [forgottenRuns, ...runs.map((place) => countsName(nameOfPlace(place)))],
    rows: forgottenWrites,
    redo: { runs: ({ runs }, change, { seq }) => runs.redoForgotten(change.runs, seq) },
  },
};

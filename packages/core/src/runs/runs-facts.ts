import type { Meanings, Touch } from '../journal/index.ts';
import { touchesNobody, touchesOrg } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { LabelBearer } from './label.ts';
import type { RunRegistry } from './run-registry.ts';
import { nameOfPlace } from './run.ts';
import { clearedWrites, forgottenWrites, givenWrites, savedWrites } from './runs-rows.ts';
import type { RunsChange, RunsForgotten } from './runs-slice.ts';
import { countsName, forgottenName, forgottenRuns, labelledName, labelsName } from './watched-runs.ts';

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
    apply: ({ runs }, change) => runs.forget(change),
    touch: touchesNobody,
    alters: alteredByForgetting,
    claims: ({ runs }) => runs.map((place) => labelsName({ of: 'run', place })),
    rows: forgottenWrites,
    // Rows of labels, and of the names of what was forgotten, are written with the fact.
    redo: { runs: ({ runs }, change, { seq }) => runs.redoForgotten(change.runs, seq) },
  },
  labels_given: {
    apply: ({ runs }, change) => runs.give(change),
    touch: touchOfBearer,
    alters: (bearer) => [labelsName(bearer), labelledName(bearer)],
    rows: givenWrites,
  },
  labels_cleared: {
    apply: ({ runs }, change) => runs.clear(change),
    touch: touchOfBearer,
    alters: (bearer) => [labelledName(bearer)],
    // Of labels that are given and cleared, or cleared twice, the order counts.
    claims: (bearer) => [labelsName(bearer)],
    rows: clearedWrites,
  },
};

/** Whoever cannot read what became of labels must not answer for those who bear them: anybody may act in a run with an id. */
function touchOfBearer({ place }: LabelBearer): Touch {
  return place.agentId === '' ? touchesOrg(place.orgId) : { agent: agentKey(place) };
}

function alteredByForgetting({ runs, dropped = [] }: RunsForgotten): readonly string[] {
  const names = runs.flatMap((place) => {
    const bearer = { of: 'run', place } as const;
    return [countsName(nameOfPlace(place)), labelledName(bearer), forgottenName(place)];
  });
  return [forgottenRuns, ...names, ...dropped.map(forgottenName)];
}

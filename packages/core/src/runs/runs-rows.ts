import type { Row, Table, Write } from '../journal/index.ts';
import { integer, marksTable, numberIn, prune, put, remove, text, textIn } from '../journal/index.ts';
import { totalOfJson } from '../kernel/index.ts';
import type { ForgottenRun } from './forgotten-runs.ts';
import type { Label, LabelOwner } from './label.ts';
import { labelOwners } from './label.ts';
import type { RunPlace } from './run.ts';
import { keyOfPlace } from './run.ts';
import type { LabelsCleared, LabelsGiven, RunsForgotten, RunsSaved, SavedLabel, SavedRun } from './runs-slice.ts';

/** The name of the mark up to which all runs are true. */
export const runsFrom = 'runs_from';

function placeIn(row: Row): RunPlace {
  const [runId = '', orgId = '', teamId = '', agentId = ''] = JSON.parse(textIn(row, 'place')) as readonly string[];
  return { orgId, teamId, runId, agentId };
}

export const runsTable: Table<SavedRun, 'place'> = {
  name: 'runs',
  key: { place: text(({ place }) => keyOfPlace(place)) },
  columns: {
    seq: integer(({ seq }) => seq),
    record: text((run) => JSON.stringify({ ...run, place: undefined, seq: undefined })),
  },
  itemOf: (row) => {
    const counts = JSON.parse(textIn(row, 'record')) as Omit<SavedRun, 'place' | 'seq'>;
    for (const sum of [counts.spentMicros, counts.costMicros]) totalOfJson(sum);
    return { place: placeIn(row), ...counts, seq: numberIn(row, 'seq') };
  },
};

/** Written with their facts. An unread row takes its org out of service: nobody acts without a label that is there. */
export const labelsTable: Table<SavedLabel, 'place' | 'owner' | 'name'> = {
  name: 'run_labels',
  key: {
    place: text(({ place }) => keyOfPlace(place)),
    owner: text(({ of }) => of),
    name: text(({ label }) => label.name),
  },
  columns: { record: text(({ label }) => JSON.stringify({ ...label, name: undefined })) },
  itemOf: (row) => ({
    of: ownerIn(row),
    place: placeIn(row),
    label: { name: textIn(row, 'name'), ...(JSON.parse(textIn(row, 'record')) as Omit<Label, 'name'>) },
  }),
};

function ownerIn(row: Row): LabelOwner {
  const found = labelOwners.find((owner) => owner === textIn(row, 'owner'));
  if (found === undefined) throw new Error('it is a label of nobody');
  return found;
}

export const forgottenRunsTable: Table<ForgottenRun, 'place'> = {
  name: 'forgotten_runs',
  key: { place: text(({ place }) => keyOfPlace(place)) },
  columns: { at: integer(({ at }) => at) },
  itemOf: (row) => ({ place: placeIn(row), at: numberIn(row, 'at') }),
};

export function givenWrites({ of, place, labels }: LabelsGiven): readonly Write[] {
  return labels.map((label) => put(labelsTable, { of, place, label }));
}

export function clearedWrites({ of, place, names }: LabelsCleared): readonly Write[] {
  return names.map((name) => remove(labelsTable, { place: keyOfPlace(place), owner: of, name }));
}

export function savedWrites({ saved, asOf }: RunsSaved): readonly Write[] {
  return [
    ...saved.map((run) => put(runsTable, run)),
    ...(asOf === null ? [] : [put(marksTable, { name: runsFrom, value: asOf })]),
  ];
}

export function forgottenWrites({ runs, at, dropped = [] }: RunsForgotten): readonly Write[] {
  return [
    ...dropped.map((place) => remove(forgottenRunsTable, { place: keyOfPlace(place) })),
    ...runs.flatMap((place) => [
      remove(runsTable, { place: keyOfPlace(place) }),
      prune(labelsTable, [
        { column: 'place', is: '=', value: keyOfPlace(place) },
        { column: 'owner', is: '=', value: 'run' },
      ]),
      ...(at === undefined ? [] : [put(forgottenRunsTable, { place, at })]),
    ]),
  ];
}

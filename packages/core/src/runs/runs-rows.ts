import type { Table, Write } from '../journal/index.ts';
import { integer, marksTable, numberIn, put, remove, text, textIn } from '../journal/index.ts';
import { totalOfJson } from '../kernel/index.ts';
import type { RunPlace } from './run.ts';
import type { RunsForgotten, RunsSaved, SavedRun } from './runs-slice.ts';

/** The name of the mark up to which all runs are true. */
export const runsFrom = 'runs_from';

/** The org comes second, as in other places. JSON, because a run id may hold anything. */
function placeText({ orgId, teamId, runId, agentId }: RunPlace): string {
  return JSON.stringify([runId, orgId, teamId, agentId]);
}

export const runsTable: Table<SavedRun, 'place'> = {
  name: 'runs',
  key: { place: text(({ place }) => placeText(place)) },
  columns: {
    seq: integer(({ seq }) => seq),
    record: text((run) => JSON.stringify({ ...run, place: undefined, seq: undefined })),
  },
  itemOf: (row) => {
    const [runId = '', orgId = '', teamId = '', agentId = ''] = JSON.parse(textIn(row, 'place')) as readonly string[];
    const counts = JSON.parse(textIn(row, 'record')) as Omit<SavedRun, 'place' | 'seq'>;
    for (const sum of [counts.spentMicros, counts.costMicros]) totalOfJson(sum);
    return { place: { orgId, teamId, runId, agentId }, ...counts, seq: numberIn(row, 'seq') };
  },
};

export function savedWrites({ saved, asOf }: RunsSaved): readonly Write[] {
  return [
    ...saved.map((run) => put(runsTable, run)),
    ...(asOf === null ? [] : [put(marksTable, { name: runsFrom, value: asOf })]),
  ];
}

export function forgottenWrites({ runs }: RunsForgotten): readonly Write[] {
  return runs.map((place) => remove(runsTable, { place: placeText(place) }));
}

import type { RunsChange } from '../../runs/index.ts';
import type { SchemaOf } from './common.ts';
import { record } from './record.ts';
import { integer, list, nullable, ownText, text, time, usually } from './values.ts';

const place = record({ orgId: text, teamId: text, runId: usually('', text), agentId: usually('', text) });

export const runsChanges: SchemaOf<RunsChange> = {
  runs_saved: {
    saved: list(
      record({
        place,
        startedAt: time,
        lastAt: time,
        checks: integer,
        denied: integer,
        spentMicros: ownText,
        costMicros: ownText,
        agents: list(record({ agentId: text, checks: integer })),
        seq: integer,
      }),
    ),
    asOf: nullable(integer),
  },
  runs_forgotten: { runs: list(place) },
};

import type { RunsChange } from '../../runs/index.ts';
import { labelOwners } from '../../runs/index.ts';
import type { SchemaOf } from './common.ts';
import { record } from './record.ts';
import { agent, integer, list, nullable, opId, optional, ownText, text, time, usually, word } from './values.ts';

const place = record({ orgId: text, teamId: text, runId: usually('', text), agentId: usually('', text) });

const owner = word(labelOwners);

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
  runs_forgotten: { runs: list(place), at: optional(time), dropped: optional(list(place)) },
  labels_given: {
    of: owner,
    place,
    by: agent,
    labels: list(record({ name: text, since: time, opId, policyRule: text })),
  },
  labels_cleared: { of: owner, place, names: list(text) },
};

import type { BulkControl, ControlChange, RunControl } from '../../control/index.ts';
import type { SchemaOf } from './common.ts';
import { actor, binding, stop } from './common.ts';
import { controlAction, receipt } from './ops-schema.ts';
import { record } from './record.ts';
import { agent, flag, integer, nullable, optional, ownText, text, time } from './values.ts';

const bulk = record<BulkControl>({
  id: text,
  action: controlAction,
  scope: record<BulkControl['scope']>({
    all: optional(flag),
    orgId: optional(text),
    teamId: optional(text),
    agentId: optional(text),
    runId: optional(text),
  }),
  reason: text,
  actor,
  orgId: nullable(text),
  teamId: nullable(text),
  requestedAt: time,
  matched: integer,
  changed: integer,
  skipped: integer,
  done: flag,
  idempotency: nullable(record({ key: text, digest: ownText })),
});

const control = record<RunControl>({
  runId: text,
  orgId: nullable(text),
  teamId: nullable(text),
  agentId: nullable(text),
  action: stop,
  controlId: text,
  actor,
  imposedBy: binding,
  at: time,
  refusedAt: nullable(time),
});

const departure = record({
  orgId: text,
  teamId: nullable(text),
  agentId: nullable(text),
  credentialId: text,
  at: time,
});

export const controlChanges: SchemaOf<ControlChange> = {
  receipt_saved: { receipt },
  bulk_control_saved: { bulk },
  control_sequence_saved: { sequence: record({ agent, sequence: integer }) },
  run_control_saved: { control },
  run_control_used: { control },
  run_control_removed: { control },
  departure_saved: { departure },
  departure_removed: { departure },
  receipts_removed: { before: time, most: integer },
};

import { doors } from '../../action/index.ts';
import type { DecisionEvent } from '../../decision/index.ts';
import type { OpRecord, OpsChange, OpsChangeEvent, OpUsage, Receipt, SavedOp } from '../../ops/index.ts';
import type { OpRewrite, ResultDuty } from '../../ops/index.ts';
import { checksShown, opStates, receiptStatuses } from '../../ops/index.ts';
import type { OwedLabel } from '../../runs/index.ts';
import { labelOwners } from '../../runs/index.ts';
import type { Codec } from './codec.ts';
import type { SchemaOf } from './common.ts';
import { actionType, actor, width } from './common.ts';
import type { MembersOf } from './record.ts';
import { record } from './record.ts';
import {
  agent,
  flag,
  integer,
  list,
  nullable,
  opId,
  optional,
  ownText,
  set,
  text,
  time,
  usually,
  word,
} from './values.ts';

export const controlAction = word(['pause', 'resume', 'terminate']);

export const receipt: Codec<Receipt> = record<Receipt>({
  id: ownText,
  bulkId: nullable(text),
  agent,
  opId,
  action: controlAction,
  actor,
  reason: text,
  cause: word(['operator', 'suspension']),
  width,
  owed: flag,
  sequence: integer,
  requestedAt: time,
  deliveredAt: nullable(time),
  ackedAt: nullable(time),
  effectiveAt: nullable(time),
  status: word(receiptStatuses),
  detail: text,
  waiting: flag,
  blocks: flag,
  floor: flag,
  processes: nullable(integer),
});

const tokens = nullable(integer);
const noText = usually('', text);
const noNumber = usually(0, integer);

/** A new operation has no more than the first five. Few have any of the last. */
const opMembers: MembersOf<Omit<OpRecord, 'control' | 'stale' | keyof typeof laterMembers>> = {
  opId,
  agent,
  state: word(opStates),
  registeredAt: time,
  updatedAt: time,
  actionType: nullable(actionType),
  resource: noText,
  summary: noText,
  runId: noText,
  reason: noText,
  costMicros: noNumber,
  reservedMicros: noNumber,
  policyRule: noText,
  digest: usually('', ownText),
  usage: nullable(record<OpUsage>({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens })),
  via: nullable(record({ door: word(doors), name: text })),
  delegators: list(text),
};

const owedLabels = list(record<OwedLabel>({ name: text, of: word(labelOwners), policyRule: text }));

const resultDuty = nullable(record<ResultDuty>({ judged: flag, unjudged: owedLabels }));

const rewrite = nullable(record<OpRewrite>({ digest: ownText, changes: nullable(ownText) }));

/** Operations in stores lack these. A later one comes last. */
const laterMembers = { floor: flag, resultDuty, owedLabels, rewrite } as const;

const op: Codec<OpRecord> = record<OpRecord>({
  ...opMembers,
  control: nullable(receipt),
  stale: flag,
  ...laterMembers,
});

export const opsChanges: SchemaOf<OpsChange> = {
  op_saved: { op: record<SavedOp>({ seq: integer, ...opMembers, controlId: nullable(text), ...laterMembers }) },
  op_removed: { id: agent, opId },
  ops_replay_from: { seq: integer },
  op_asked: { op },
  op_result_judged: { id: agent, opId },
  ops_forgotten: {},
};

export const opsEvents: SchemaOf<OpsChangeEvent> = {
  ops_change: {
    at: time,
    agent,
    op,
    booked: optional(text),
    checked: optional(set),
    shows: optional(word(checksShown)),
  },
};

export const decisionEvents: SchemaOf<DecisionEvent> = {
  decision: {
    at: time,
    agent,
    decision: word(['allow', 'deny', 'pending']),
    reason: text,
    policyRule: text,
    opId,
  },
};

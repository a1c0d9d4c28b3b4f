import type { AgentColumn, Row, Table } from '../journal/index.ts';
import { agentColumns, agentIdOf, integer, numberIn, text, textIn } from '../journal/index.ts';
import { noLabels } from '../runs/index.ts';
import { noDelegators } from './op.ts';
import type { SavedOp } from './ops-slice.ts';
import { boundedOp } from './ops-slice.ts';

export const opsTable: Table<SavedOp, AgentColumn | 'op_id'> = {
  name: 'ops',
  key: { ...agentColumns(({ agent }) => agent), op_id: text(({ opId }) => opId) },
  columns: { seq: integer(({ seq }) => seq), record: text(recordOf) },
  itemOf: opOf,
};

/** The mark after which a restart replays the log. */
export const replayFrom = 'ops_replay_from';

/** Everything without a column of its own. */
function recordOf(op: SavedOp): string {
  return JSON.stringify({ ...op, agent: undefined, opId: undefined, seq: undefined });
}

/** Rows of older versions lack these members. */
type Later =
  | 'controlId'
  | 'delegators'
  | 'floor'
  | 'owedLabels'
  | 'reservedMicros'
  | 'resultDuty'
  | 'rewrite'
  | 'usage'
  | 'via';
type StoredRecord = Omit<SavedOp, 'agent' | 'opId' | 'seq' | Later> & Partial<Pick<SavedOp, Later>>;

function opOf(row: Row): SavedOp {
  const record = JSON.parse(textIn(row, 'record')) as StoredRecord;
  return boundedOp({
    opId: textIn(row, 'op_id'),
    agent: agentIdOf(row),
    state: record.state,
    registeredAt: record.registeredAt,
    updatedAt: record.updatedAt,
    actionType: record.actionType,
    resource: record.resource,
    summary: record.summary,
    runId: record.runId,
    delegators: record.delegators ?? noDelegators,
    via: record.via ?? null,
    reason: record.reason,
    costMicros: record.costMicros,
    reservedMicros: record.reservedMicros ?? 0,
    usage: record.usage ?? null,
    policyRule: record.policyRule,
    digest: record.digest,
    owedLabels: record.owedLabels ?? noLabels,
    rewrite: record.rewrite ?? null,
    seq: numberIn(row, 'seq'),
    controlId: record.controlId ?? null,
    floor: record.floor ?? false,
    resultDuty: record.resultDuty ?? null,
  });
}

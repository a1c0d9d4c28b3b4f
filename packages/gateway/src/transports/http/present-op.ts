import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { AgentId, ControlReport, ControlScope, OpRecord, Receipt, RunControl } from '@reeve/core';
import { evidenceOf, timestamp } from '@reeve/core';
import { cursorAfter } from './cursor.ts';
import { fitting } from './fitting.ts';
import { timeOrNull } from './present.ts';

/** Operations and their control on the wire. */

export type OpJson = RouteOutput<Routes['getOp']>;
type ControlJson = NonNullable<OpJson['control']>;
type ReportJson = RouteOutput<Routes['getControl']>;
type ReceiptJson = Extract<ReportJson, { kind: 'receipt' }>;
type ScopeJson = Extract<ReportJson, { kind: 'bulk' }>['scope'];

export function opJson(op: OpRecord): OpJson {
  return {
    op_id: op.opId,
    state: op.state,
    registered_at: timestamp(op.registeredAt),
    updated_at: timestamp(op.updatedAt),
    agent: agentIdJson(op.agent),
    action_type: op.actionType,
    resource: op.resource,
    summary: op.summary,
    run_id: op.runId,
    via: op.via === null ? null : { ...op.via },
    reason: op.reason,
    cost_micros: op.costMicros,
    input_tokens: op.usage?.inputTokens ?? null,
    output_tokens: op.usage?.outputTokens ?? null,
    cached_input_tokens: op.usage?.cachedInputTokens ?? null,
    actor: op.control?.actor ?? null,
    control: op.control === null ? null : controlJson(op.control),
    stale: op.stale,
    floor: op.floor,
  };
}

export function controlJson(receipt: Receipt): ControlJson {
  return {
    id: receipt.id,
    action: receipt.action,
    actor: receipt.actor,
    reason: receipt.reason,
    requested_at: timestamp(receipt.requestedAt),
    delivered_at: timeOrNull(receipt.deliveredAt),
    acked_at: timeOrNull(receipt.ackedAt),
    effective_at: timeOrNull(receipt.effectiveAt),
    status: receipt.status,
    detail: receipt.detail,
    evidence: evidenceOf(receipt),
    processes: receipt.processes,
  };
}

export function reportJson(report: ControlReport): ReportJson {
  if (report.kind === 'receipt') return receiptJson(report.receipt);
  const { bulk, counts, receipts, next } = report;
  const shown = fitting(receipts, receiptJson);
  return {
    kind: 'bulk',
    id: bulk.id,
    action: bulk.action,
    actor: bulk.actor,
    reason: bulk.reason,
    requested_at: timestamp(bulk.requestedAt),
    scope: scopeJson(bulk.scope),
    matched: bulk.matched,
    changed: bulk.changed,
    skipped: bulk.skipped,
    done: bulk.done,
    counts: { ...counts },
    receipts: shown,
    next_cursor: cursorAfter(shown.length < receipts.length ? (shown.at(-1)?.id ?? next) : next),
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
  };
}

function receiptJson(receipt: Receipt): ReceiptJson {
  return {
    kind: 'receipt',
    ...controlJson(receipt),
    op_id: receipt.opId,
    agent: agentIdJson(receipt.agent),
    bulk_id: receipt.bulkId,
  };
}

function scopeJson({ all, orgId, teamId, agentId, runId }: ControlScope): ScopeJson {
  return {
    ...(all === true ? { all } : {}),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(teamId === undefined ? {} : { team_id: teamId }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(runId === undefined ? {} : { run_id: runId }),
  };
}

type RunControlJson = RouteOutput<Routes['listRunControls']>['items'][number];

export function runControlJson(control: RunControl): RunControlJson {
  return {
    run_id: control.runId,
    org_id: control.orgId,
    team_id: control.teamId,
    agent_id: control.agentId,
    action: control.action,
    control_id: control.controlId,
    actor: control.actor,
    requested_at: timestamp(control.at),
    last_refused_at: timeOrNull(control.refusedAt),
  };
}

export function agentIdJson({ orgId, teamId, agentId }: AgentId): OpJson['agent'] {
  return { org_id: orgId, team_id: teamId, agent_id: agentId };
}

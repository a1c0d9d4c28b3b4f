import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import { entrances } from '../../names.ts';
import type { Route } from '../route.ts';
import {
  actorJson,
  agentIdJson,
  alsoOneOf,
  controlAction,
  controlJson,
  id,
  idFilter,
  idOrEmpty,
  idPath,
  listOf,
  opJson,
  opState,
  paging,
  reason,
  receiptStatus,
  runIdFilter,
  timestamp,
  without,
} from '../schemas.ts';

/** `trace:span`, or `org/team/agent/trace:span`. */
const opPath = z.object({ id: z.string().max(bounds.opId) });

/** If both ids are empty, the gateway generates them. */
const traceId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,128}$/, 'must be 1 to 128 letters, digits, "_" or "-"')
  .meta({ maxLength: bounds.traceId });

const bothOrNeither = [
  { properties: { trace_id: { const: '' }, span_id: { const: '' } } },
  { properties: { trace_id: { minLength: 1 }, span_id: { minLength: 1 } } },
];

const control = {
  method: 'POST',
  tag: 'Operations',
  access: 'write',
  tenancy: 'own',
  params: opPath,
  body: z.strictObject({ reason: reason.default('') }),
  problems: ['op_not_found', 'ambiguous_op', 'invalid_transition'],
} as const;

const controlled = z.object({ op: opJson, control: controlJson.nullable() });

/** The members narrow together. `all` stands alone. */
const controlScope = z
  .strictObject({
    org_id: idOrEmpty.optional(),
    team_id: idOrEmpty.optional(),
    agent_id: id.optional(),
    run_id: z.string().min(1).max(bounds.runId).optional(),
    all: z.literal(true, 'must be true, or left out').optional(),
  })
  .refine(
    ({ all, ...some }) => (all === true) !== Object.values(some).some((member) => member !== undefined),
    'must name at least one of org_id, team_id, agent_id and run_id, or be {"all": true}',
  )
  .meta({ minProperties: 1, ...alsoOneOf([{ required: ['all'], maxProperties: 1 }, without('all')]) });

const receiptJson = controlJson.extend({
  kind: z.literal('receipt'),
  op_id: z.string(),
  agent: agentIdJson,
  /** The scoped control that this one belongs to. */
  bulk_id: z.string().nullable(),
});

const bulkJson = z.object({
  kind: z.literal('bulk'),
  id: z.string(),
  action: controlAction,
  actor: actorJson,
  reason: z.string(),
  requested_at: timestamp,
  scope: z.object({
    all: z.boolean().optional(),
    org_id: z.string().optional(),
    team_id: z.string().optional(),
    agent_id: z.string().optional(),
    run_id: z.string().optional(),
  }),
  matched: z.int(),
  changed: z.int(),
  skipped: z.int(),
  /** False while it is in progress. If it stays false, the control was interrupted. */
  done: z.boolean(),
  counts: z.record(receiptStatus, z.int()),
  receipts: z.array(receiptJson),
  next_cursor: z.string().nullable(),
  total: z.int(),
});

const runControlJson = z.object({
  run_id: z.string(),
  /** Where it holds. Null stands for any. */
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  action: z.enum(['pause', 'terminate']),
  control_id: z.string(),
  actor: actorJson,
  requested_at: timestamp,
  /** To the hour. Null if it has refused no check yet. */
  last_refused_at: timestamp.nullable(),
});

/** Operations in flight, and their control. */
export const opsRoutes = {
  listOps: {
    method: 'GET',
    path: '/api/v1/ops',
    tag: 'Operations',
    summary: 'Operations in flight, and recently ended ones, newest first.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      ...paging,
      state: opState.optional(),
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      run_id: runIdFilter,
      door: z.enum(entrances).optional(),
    }),
    success: { status: 200, description: 'A page.', body: listOf(opJson) },
    problems: [],
  },
  getOp: {
    method: 'GET',
    path: '/api/v1/ops/{id}',
    tag: 'Operations',
    summary: 'One operation.',
    access: 'read',
    tenancy: 'own',
    params: opPath,
    success: { status: 200, description: 'The operation.', body: opJson },
    problems: ['op_not_found', 'ambiguous_op'],
  },
  registerOp: {
    method: 'POST',
    path: '/api/v1/ops',
    tag: 'Operations',
    summary: 'Register an operation of an agent before its check. It is pending until its first check decides it.',
    access: 'write',
    tenancy: 'own',
    body: z
      .strictObject({
        agent: z.strictObject({ org_id: idOrEmpty, team_id: idOrEmpty, agent_id: id }),
        trace_id: traceId,
        span_id: traceId,
        summary: z.string().max(bounds.text).default(''),
      })
      .meta(alsoOneOf(bothOrNeither)),
    success: {
      status: 201,
      description: 'The new operation.',
      body: opJson,
      alternative: { status: 200, description: 'The operation existed already and has not changed.' },
    },
    problems: ['agent_not_found'],
  },
  pauseOp: {
    ...control,
    path: '/api/v1/ops/{id}/pause',
    summary:
      'Pause a running operation. Its agent hears of it on its control stream. If a narrower credential has already paused the operation, it stays paused, and only a credential as wide as the caller’s resumes it from then on.',
    success: { status: 202, description: 'The paused operation, and the receipt of this control.', body: controlled },
  },
  resumeOp: {
    ...control,
    path: '/api/v1/ops/{id}/resume',
    summary:
      'Let a paused operation run on. In a suspended scope this takes effect once that is lifted, and “control” is null. This takes a credential at least as wide as the one that paused it or suspended its agent. The credential that registered the agent cannot do it.',
    success: { status: 202, description: 'The running operation, and the receipt of this control.', body: controlled },
    problems: [...control.problems, 'imposed_by_wider', 'own_agent'],
  },
  terminateOp: {
    ...control,
    path: '/api/v1/ops/{id}/terminate',
    summary: 'Terminate an operation that is pending, running or paused. Terminating it again changes nothing.',
    success: {
      status: 202,
      description: 'The terminated operation, and the receipt; null if it was terminated before.',
      body: controlled,
    },
  },
  completeOp: {
    ...control,
    path: '/api/v1/ops/{id}/complete',
    summary: 'Report that a running operation has finished, in place of its agent.',
    body: z.strictObject({
      actual_cost_micros: z.int().min(0).nullish(),
      outcome: z.enum(['succeeded', 'failed', 'cancelled']).nullish(),
      detail: z.string().max(bounds.text).default(''),
      reason: reason.default(''),
    }),
    success: { status: 200, description: 'The operation, which is completing.', body: opJson },
  },
  controlScope: {
    method: 'POST',
    path: '/api/v1/control',
    tag: 'Operations',
    summary:
      'Pause, resume or terminate every operation in flight within a scope. With a run_id, this also holds for later checks in that run, which are denied until it is resumed. A whole org, and "all", need the scope "admin"; "all" means the caller’s own tenant.',
    access: 'write',
    tenancy: 'own',
    headers: z.object({
      'idempotency-key': z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible characters')
        .meta({ maxLength: bounds.idempotencyKey })
        .optional(),
    }),
    body: z.strictObject({ action: controlAction, scope: controlScope, reason, dry_run: z.boolean().default(false) }),
    success: {
      status: 202,
      description: 'How many operations are in scope, how many of them changed, and how many were in another state.',
      body: z.object({
        matched: z.int(),
        changed: z.int(),
        skipped: z.int(),
        /** Null for a dry run. */
        control_id: z.string().nullable(),
      }),
      alternative: { status: 200, description: 'The same for a "dry_run": what would change. Nothing has changed.' },
    },
    problems: ['scope_not_found', 'idempotency_conflict', 'too_many_held_runs', 'imposed_by_wider', 'own_agent'],
  },
  listRunControls: {
    method: 'GET',
    path: '/api/v1/runs/controls',
    tag: 'Operations',
    summary: 'The runs that somebody has paused or terminated, and whose later checks are denied, newest first.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...paging, org_id: idFilter, team_id: idFilter, run_id: runIdFilter }),
    success: { status: 200, description: 'A page.', body: listOf(runControlJson) },
    problems: [],
  },
  getControl: {
    method: 'GET',
    path: '/api/v1/control/{id}',
    tag: 'Operations',
    summary: 'The outcome of a control: one receipt, or the receipts of a scoped control with their number by status.',
    access: 'read',
    tenancy: 'own',
    params: idPath,
    query: z.object(paging),
    success: { status: 200, description: 'The receipt or receipts.', body: z.union([receiptJson, bulkJson]) },
    problems: ['control_not_found'],
  },
} as const satisfies Record<string, Route>;

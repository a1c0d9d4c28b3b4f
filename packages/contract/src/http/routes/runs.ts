import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { agentIdJson, alsoOneOf, id, idFilter, idOrEmpty, label, listOf, opState, paging } from '../schemas.ts';
import { reason, timestamp, usd, usdFilter, userFilter, without } from '../schemas.ts';

const runState = z.enum(['active', 'held', 'ended']);

const labelJson = z.object({
  name: z.string(),
  since: timestamp,
  /** The operation whose call or result gave the label, and the rule that said so. */
  op_id: z.string(),
  policy_rule: z.string(),
});

const runJson = z.object({
  /** Empty for the run of an agent that sends no ids, which `agent_id` then names. */
  run_id: z.string(),
  org_id: z.string(),
  team_id: z.string(),
  agent_id: z.string().nullable(),
  /** Held: somebody has paused or terminated it. Ended: nothing of it is under way. */
  state: runState,
  labels: z.array(labelJson),
  /** The first sixteen, by their ids. */
  agents: z.array(z.string()),
  checks: z.int(),
  denied: z.int(),
  cost_usd: usd,
  started_at: timestamp,
  last_at: timestamp,
});

/** What the log says of an operation of a run. */
const runOpJson = z.object({
  op_id: z.string(),
  agent: agentIdJson,
  action_type: z.string(),
  resource: z.string(),
  decision: z.enum(['allow', 'deny', 'pending']),
  reason: z.string(),
  policy_rule: z.string(),
  cost_micros: z.int(),
  at: timestamp,
  /** As it is now. Null once it has ended and is no longer known. */
  state: opState.nullable(),
});

const runId = z.string().min(1).max(bounds.runId);

/** Runs, and the labels that they and agents bear. */
export const runRoutes = {
  listRuns: {
    method: 'GET',
    path: '/api/v1/runs',
    tag: 'Runs',
    summary: 'The runs that are remembered, those that began last first.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      ...paging,
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      label: label.optional(),
      state: runState.optional(),
      user: userFilter,
      min_cost_usd: usdFilter,
      max_cost_usd: usdFilter,
    }),
    success: { status: 200, description: 'A page.', body: listOf(runJson) },
    problems: [],
  },
  getRun: {
    method: 'GET',
    path: '/api/v1/runs/{run_id}',
    tag: 'Runs',
    summary:
      'One run, with its operations in order, ended ones too. Org and team default to those that the credential is bound to, or to none. "-" stands for the run of an agent that sends no ids, which agent_id names.',
    access: 'read',
    tenancy: 'own',
    params: z.object({ run_id: runId }),
    query: z.object({ ...paging, org_id: idFilter, team_id: idFilter, agent_id: idFilter }),
    success: {
      status: 200,
      description: 'The run.',
      body: runJson.extend({
        /** What its agents bear in all their runs. It counts in this run, too. */
        agent_labels: z.array(labelJson.extend({ agent_id: z.string() })),
        operations: z.object({ items: z.array(runOpJson), next_cursor: z.string().nullable() }),
      }),
    },
    problems: ['run_not_found'],
  },
  clearRunLabels: {
    method: 'POST',
    path: '/api/v1/runs/labels/clear',
    tag: 'Runs',
    summary:
      'Clear labels of a run, or with agent_id what an agent bears and those of its run without an id; all of them if none are named. Checks that were answered before count as before. The credential that registered an agent of the run cannot do it, nor one that comes from it.',
    access: 'write',
    tenancy: 'own',
    body: z
      .strictObject({
        org_id: idOrEmpty.optional(),
        team_id: idOrEmpty.optional(),
        run_id: runId.optional(),
        agent_id: id.optional(),
        labels: z.array(label).min(1).max(bounds.labels).optional(),
        reason,
      })
      .refine(
        ({ run_id, agent_id }) => (run_id === undefined) !== (agent_id === undefined),
        'must have either a run_id or an agent_id',
      )
      .meta(
        alsoOneOf([
          { required: ['run_id'], ...without('agent_id') },
          { required: ['agent_id'], ...without('run_id') },
        ]),
      ),
    success: {
      status: 200,
      description: 'The names that were cleared, and those that are left.',
      body: z.object({ cleared: z.array(z.string()), labels: z.array(z.string()) }),
    },
    problems: ['run_not_found', 'agent_not_found', 'own_agent'],
  },
} as const satisfies Record<string, Route>;

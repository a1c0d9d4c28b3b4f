import type { RouteInput, Routes } from '@reeve/contract/http';
import type { ControlAction, ControlScope, Controls, Execute, Principal } from '@reeve/core';
import { listOps, listRunControls, readControl, readOp, runControlPlace } from '@reeve/core';
import { cursorAfterPlace, cursorOf, idOf, pageEndOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import { inSteps } from '../in-steps.ts';
import type { Handlers } from '../handler.ts';
import { AlternativeAnswer } from '../handler.ts';
import { controlJson, opJson, reportJson, runControlJson } from '../present-op.ts';

type OpsRoutes =
  | 'listOps'
  | 'getOp'
  | 'registerOp'
  | 'pauseOp'
  | 'resumeOp'
  | 'terminateOp'
  | 'completeOp'
  | 'controlScope'
  | 'listRunControls'
  | 'getControl';

export function opsHandlers(controls: Controls, execute: Execute): Pick<Handlers, OpsRoutes> {
  const control = async (by: Principal, opId: string, action: ControlAction, reason: string) => {
    const { op, control: receipt } = await execute({ kind: 'control_op', by, opId, action, reason });
    return { op: opJson(op), control: receipt === null ? null : controlJson(receipt) };
  };
  return {
    listOps: async ({ query }, { principal }) => {
      const filter = {
        orgId: query.org_id,
        teamId: query.team_id,
        agentId: query.agent_id,
        runId: query.run_id,
        state: query.state,
        door: query.door,
      };
      const page = { before: placeOf(query.cursor), limit: query.per_page };
      const { ops, places, next, total } = await controls.journal.durable(() =>
        inSteps(listOps(controls, principal, filter, page)),
      );
      const items = fitting(ops, opJson);
      const goesOn = items.length < ops.length ? (places[items.length - 1] ?? next) : next;
      return { items, next_cursor: cursorOf(goesOn), total };
    },
    getOp: async ({ params }, { principal }) => opJson(await readOp(controls, principal, params.id)),
    registerOp: async ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId } = body.agent;
      const { op, created } = await execute({
        kind: 'register_op',
        by: principal,
        agent: { orgId, teamId, agentId },
        traceId: body.trace_id,
        spanId: body.span_id,
        summary: body.summary,
      });
      return created ? opJson(op) : new AlternativeAnswer(opJson(op));
    },
    pauseOp: ({ params, body }, { principal }) => control(principal, params.id, 'pause', body.reason),
    resumeOp: ({ params, body }, { principal }) => control(principal, params.id, 'resume', body.reason),
    terminateOp: ({ params, body }, { principal }) => control(principal, params.id, 'terminate', body.reason),
    completeOp: async ({ params, body }, { principal }) => {
      const completion = {
        actualCostMicros: body.actual_cost_micros ?? null,
        outcome: body.outcome ?? null,
        detail: body.detail,
      };
      const { reason } = body;
      return opJson(await execute({ kind: 'complete_op', by: principal, opId: params.id, completion, reason }));
    },
    controlScope: async ({ body, headers }, { principal }) => {
      const { matched, changed, skipped, controlId } = await execute({
        kind: 'control_scope',
        by: principal,
        action: body.action,
        scope: scopeOf(body.scope),
        reason: body.reason,
        dryRun: body.dry_run,
        idempotencyKey: headers['idempotency-key'] ?? null,
      });
      const answer = { matched, changed, skipped, control_id: controlId };
      return body.dry_run ? new AlternativeAnswer(answer) : answer;
    },
    listRunControls: async ({ query }, { principal }) => {
      const filter = { orgId: query.org_id, teamId: query.team_id, runId: query.run_id };
      const page = { before: pageEndOf(query.cursor), limit: query.per_page };
      const found = await controls.journal.durable(() => inSteps(listRunControls(controls, principal, filter, page)));
      const items = fitting(found.controls, runControlJson);
      const last = found.controls[items.length - 1];
      const isCut = items.length < found.controls.length && last !== undefined;
      return { items, next_cursor: cursorAfterPlace(isCut ? runControlPlace(last) : found.next), total: found.total };
    },
    getControl: async ({ params, query }, { principal }) => {
      const page = { after: idOf(query.cursor) ?? '', limit: query.per_page };
      return reportJson(await readControl(controls, principal, params.id, page));
    },
  };
}

function scopeOf({
  all,
  org_id,
  team_id,
  agent_id,
  run_id,
}: RouteInput<Routes['controlScope']>['body']['scope']): ControlScope {
  return { all, orgId: org_id, teamId: team_id, agentId: agent_id, runId: run_id };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RouteInput, Routes } from '@reeve/contract/http';
import type { ControlAction, ControlScope, Governance, Principal } from '@reeve/core';
import { completeOp, controlOp, controlScope, findOp, listOps, readControl, readOp, registerOp } from '@reeve/core';
import { cursorOf, idOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { AlternativeAnswer } from '../handler.ts';
import { controlJson, opJson, reportJson } from '../present-op.ts';

type OpsRoutes =
  | 'listOps'
  | 'getOp'
  | 'registerOp'
  | 'pauseOp'
  | 'resumeOp'
  | 'terminateOp'
  | 'completeOp'
  | 'controlScope'
  | 'getControl';

export function opsHandlers(gov: Governance): Pick<Handlers, OpsRoutes> {
  /** A refusal, too, is told only once the state that it speaks of is durable. */
  const commitBeforeRefusal = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      await gov.journal.committed();
      throw error;
    }
  };
  const control = (by: Principal, id: string, action: ControlAction, reason: string) =>
    commitBeforeRefusal(async () => {
      const { op, control: receipt } = await controlOp(gov, by, findOp(gov, by, id), action, reason);
      return { op: opJson(op), control: receipt === null ? null : controlJson(receipt) };
    });
  return {
    listOps: async ({ query }, { principal }) => {
      const filter = {
        orgId: query.org_id,
        teamId: query.team_id,
        agentId: query.agent_id,
        runId: query.run_id,
        state: query.state,
      };
      const page = { before: placeOf(query.cursor), limit: query.per_page };
      const steps = listOps(gov, principal, filter, page);
      let step = steps.next();
      while (step.done !== true) {
        await nextTurn();
        step = steps.next();
      }
      await gov.journal.committed();
      const { ops, places, next, total } = step.value;
      const items = fitting(ops, opJson);
      const goesOn = items.length < ops.length ? (places[items.length - 1] ?? next) : next;
      return { items, next_cursor: cursorOf(goesOn), total };
    },
    getOp: async ({ params }, { principal }) => opJson(await readOp(gov, principal, params.id)),
    registerOp: async ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId } = body.agent;
      const { op, created } = await registerOp(gov, principal, {
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
    completeOp: ({ params, body }, { principal }) =>
      commitBeforeRefusal(async () => {
        const completion = {
          actualCostMicros: body.actual_cost_micros ?? null,
          outcome: body.outcome ?? null,
          detail: body.detail,
        };
        const op = await completeOp(gov, principal, findOp(gov, principal, params.id), completion, body.reason);
        return opJson(op);
      }),
    controlScope: async ({ body, headers }, { principal }) => {
      const { matched, changed, skipped, controlId } = await controlScope(gov, principal, {
        action: body.action,
        scope: scopeOf(body.scope),
        reason: body.reason,
        dryRun: body.dry_run,
        idempotencyKey: headers['idempotency-key'] ?? null,
      });
      const answer = { matched, changed, skipped, control_id: controlId };
      return body.dry_run ? new AlternativeAnswer(answer) : answer;
    },
    getControl: async ({ params, query }, { principal }) => {
      const page = { after: idOf(query.cursor) ?? '', limit: query.per_page };
      return reportJson(await readControl(gov, principal, params.id, page));
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

import type { AuditReader, Decisions, Execute, FoundUserRuns, PageEnd, PeopleReader, Total } from '@reeve/core';
import { findUserRuns, listRunOperations, listRuns, parseUsd, placeInList, readRun, ReeveError } from '@reeve/core';
import { cursorAfterPlace, cursorOf, cursorOfUserRuns, pageEndOf, placeOf, userRunsPlaceOf } from '../cursor.ts';
import type { UserRunsPlace } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { agentLabelsJson, runJson, runOpJson } from '../present-run.ts';
import { HttpError } from '../problem.ts';
import { inSteps } from '../in-steps.ts';

type RunRoutes = 'listRuns' | 'getRun' | 'clearRunLabels';

/** Stands for the run of an agent that sends no ids. */
const ownRun = '-';

export function runHandlers(
  gov: Decisions,
  execute: Execute,
  log: AuditReader & PeopleReader,
): Pick<Handlers, RunRoutes> {
  return {
    listRuns: async ({ query }, { principal, hasLeft }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId, label, state, user } = query;
      const newest = { before: gov.journal.head.seq + 1, end: undefined };
      const place = user === undefined ? undefined : (userRunsPlaceOf(query.cursor) ?? newest);
      const page = { before: place === undefined ? pageEndOf(query.cursor) : place.end, limit: query.per_page };
      const costs = { leastCostMicros: amount(query.min_cost_usd), mostCostMicros: amount(query.max_cost_usd) };
      const ofUser =
        user === undefined || place === undefined
          ? undefined
          : await findUserRuns(gov, log, principal, { orgId, teamId, user }, { before: place.before, hasLeft });
      const filter = { orgId, teamId, agentId, label, state, ...costs, ofUser: ofUser?.runs };
      const found = await gov.journal.durable(() => inSteps(listRuns(gov, principal, filter, page)));
      const items = fitting(found.runs, runJson);
      const last = found.runs[items.length - 1];
      const isCut = items.length < found.runs.length && last !== undefined;
      const end = isCut ? placeInList(gov, last.run) : found.next;
      return {
        items,
        next_cursor: place === undefined ? cursorAfterPlace(end) : cursorOfUserRuns(placeAfter(place, end, ofUser)),
        total: found.total,
      };
    },
    getRun: async ({ params, query }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId } = query;
      // Without an agent, "-" is an id like any other: whoever runs agents may choose it.
      const isOwn = params.run_id === ownRun && agentId !== undefined;
      const runId = isOwn ? undefined : params.run_id;
      const run = await readRun(gov, principal, { orgId, teamId, runId, agentId }).catch((error: unknown) => {
        throw params.run_id === ownRun && !isOwn && isUnknownRun(error) ? lacksAgent() : error;
      });
      const page = { after: placeOf(query.cursor), limit: query.per_page };
      const { operations, next } = await listRunOperations(gov, log, run.run, page);
      const items = fitting(operations, runOpJson);
      const last = operations[items.length - 1];
      const isCut = items.length < operations.length && last !== undefined;
      return {
        ...runJson(run),
        agent_labels: agentLabelsJson(run),
        operations: { items, next_cursor: cursorOf(isCut ? last.decided.seq : next) },
      };
    },
    clearRunLabels: async ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, run_id: runId, agent_id: agentId, labels, reason } = body;
      const asked = { orgId, teamId, runId, agentId, labels, reason };
      const { cleared, left } = await execute({ kind: 'clear_labels', by: principal, ...asked });
      return { cleared: [...cleared], labels: [...left] };
    },
  };
}

/** Once all runs of a stretch of the log are listed, the list goes on with those of an older one. */
function placeAfter(
  { before }: UserRunsPlace,
  end: PageEnd | null,
  ofUser: FoundUserRuns | undefined,
): UserRunsPlace | null {
  if (end !== null) return { before, end };
  return ofUser === undefined || ofUser.next === null ? null : { before: ofUser.next };
}

function amount(usd: string | undefined): Total | undefined {
  return usd === undefined ? undefined : parseUsd(usd);
}

function isUnknownRun(error: unknown): boolean {
  return error instanceof ReeveError && error.code === 'run_not_found';
}

function lacksAgent(): HttpError {
  const detail = 'is needed with the run "-": the agent that sends no run ids';
  return new HttpError('validation_failed', `/query/agent_id: ${detail}`, {
    errors: [{ pointer: '/query/agent_id', detail }],
  });
}

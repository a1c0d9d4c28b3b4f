import type { AuditReader, BalanceDifference, BudgetRow, Decisions, RateRow, SpentWindow, Store } from '@reeve/core';
import { verifyBudgets, correctBudget, listBudgets, listRates } from '@reeve/core';
import { readHistory, timestamp, usdOfMicros } from '@reeve/core';
import { cursorOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { timeOrNull } from '../present.ts';

export interface BudgetPorts {
  readonly gov: Decisions;
  readonly store: Pick<Store, 'closedPeriods'>;
  readonly reader: AuditReader;
}

export function budgetHandlers({
  gov,
  store,
  reader,
}: BudgetPorts): Pick<Handlers, 'listBudgets' | 'listRates' | 'budgetHistory' | 'verifyBudgets' | 'correctBudget'> {
  return {
    correctBudget: async ({ body }, { principal }) => {
      const { agent, org_id: orgId, team_id: teamId, amount_usd: amountUsd, reason } = body;
      const named =
        agent === undefined
          ? { orgId, teamId }
          : { orgId, teamId, agent: { orgId: agent.org_id, teamId: agent.team_id, agentId: agent.agent_id } };
      const rows = await correctBudget(gov, principal, { ...named, amountUsd, reason });
      return { items: rows.map(budgetJson) };
    },
    budgetHistory: async ({ query }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId, period, count } = query;
      const windows = await readHistory(gov, principal, store, { orgId, teamId, agentId, period, count });
      return { items: windows.map(windowJson) };
    },
    verifyBudgets: async (_, { principal }) => {
      const { consistent, checkedEntries, checkedFrom, differences } = await verifyBudgets(gov, principal, reader);
      return {
        consistent,
        checked_entries: checkedEntries,
        checked_from: timeOrNull(checkedFrom),
        differences: differences.map(differenceJson),
      };
    },
    listBudgets: ({ query }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId, tier, period, per_page: perPage } = query;
      const filter = { orgId, teamId, agentId, tier, period, minPercent: query.min_percent };
      return pageOf(listBudgets(gov, principal, filter), query.cursor, perPage, budgetJson);
    },
    listRates: ({ query }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId, tier, per_page: perPage } = query;
      const filter = { orgId, teamId, agentId, tier, minPercent: query.min_percent };
      return pageOf(listRates(gov, principal, filter), query.cursor, perPage, rateJson);
    },
  };
}

function pageOf<Row, Json>(
  rows: readonly Row[],
  cursor: string | undefined,
  perPage: number,
  jsonOf: (row: Row) => Json,
) {
  const start = placeOf(cursor) ?? 0;
  const items = fitting(rows.slice(start, start + perPage), jsonOf);
  const end = start + items.length;
  return { items, next_cursor: cursorOf(end < rows.length ? end : null), total: rows.length };
}

function rateJson({ rate, of, count, roomAt }: RateRow) {
  const { actions, tools } = rate.rate;
  return {
    rate: rate.id,
    tier: of.tier,
    org_id: orNull(of.orgId),
    team_id: orNull(of.teamId),
    agent_id: orNull(of.agentId),
    window_secs: rate.windowSecs,
    max: rate.max,
    actions: actions === undefined ? null : [...actions],
    tools: tools?.map(({ source }) => source) ?? null,
    count,
    room_at: timeOrNull(roomAt),
  };
}

function budgetJson({ of, period, limitMicros, spentMicros, reservedMicros, resetsAt, reachedAt }: BudgetRow) {
  return {
    tier: of.tier,
    org_id: orNull(of.orgId),
    team_id: orNull(of.teamId),
    agent_id: orNull(of.agentId),
    period,
    limit_usd: limitMicros === null ? null : usdOfMicros(limitMicros),
    spent_usd: usdOfMicros(spentMicros),
    reserved_usd: usdOfMicros(reservedMicros > 0 ? reservedMicros : 0),
    resets_at: timestamp(resetsAt),
    reached_at: timeOrNull(reachedAt),
  };
}

function windowJson({ startsAt, endsAt, spentMicros, limitMicros, closed }: SpentWindow) {
  return {
    starts_at: timestamp(startsAt),
    ends_at: timestamp(endsAt),
    spent_usd: usdOfMicros(spentMicros),
    limit_usd: limitMicros === null ? null : usdOfMicros(limitMicros),
    closed,
  };
}

function differenceJson({ of, period, ledgerMicros, logMicros }: BalanceDifference) {
  return {
    tier: of.tier,
    org_id: orNull(of.orgId),
    team_id: orNull(of.teamId),
    agent_id: orNull(of.agentId),
    period,
    ledger_usd: usdOfMicros(ledgerMicros),
    log_usd: usdOfMicros(logMicros),
  };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

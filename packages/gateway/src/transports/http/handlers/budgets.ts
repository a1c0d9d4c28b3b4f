import type { BudgetRow, Governance } from '@reeve/core';
import { listBudgets, timestamp, usdOfMicros } from '@reeve/core';
import { cursorOf, placeOf } from '../cursor.ts';
import type { Handlers } from '../handler.ts';
import { timeOrNull } from '../present.ts';

export function budgetHandlers(gov: Governance): Pick<Handlers, 'listBudgets'> {
  return {
    listBudgets: ({ query }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId, per_page: perPage } = query;
      const rows = listBudgets(gov, principal, { orgId, teamId, agentId });
      const start = placeOf(query.cursor) ?? 0;
      const items = rows.slice(start, start + perPage);
      const end = start + items.length;
      return {
        items: items.map(budgetJson),
        next_cursor: cursorOf(end < rows.length ? end : null),
        total: rows.length,
      };
    },
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
    reserved_usd: usdOfMicros(Math.max(0, reservedMicros)),
    resets_at: timestamp(resetsAt),
    reached_at: timeOrNull(reachedAt),
  };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

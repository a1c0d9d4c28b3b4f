import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Colour } from '../output/colour.ts';
import type { Column } from '../output/table.ts';
import { timeLeft } from '../output/duration.ts';
import { microsOf } from '../output/usd.ts';

type Budget = RouteOutput<Routes['listBudgets']>['items'][number];

/** Budgets as a table, each below the budget that contains it. */
export const budgetColumns: readonly Column<Budget>[] = [
  { title: 'BUDGET', value: (budget) => `${'  '.repeat(levels[budget.tier])}${placeText(budget)}` },
  { title: 'PERIOD', value: ({ period }) => period },
  { title: 'SPENT USD', value: ({ spent_usd: spent }) => spent, isRight: true },
  { title: 'RESERVED', value: ({ reserved_usd: reserved }) => reserved, isRight: true },
  { title: 'LIMIT', value: ({ limit_usd: limit }) => limit, isRight: true },
  { title: 'USED', value: usedText, isRight: true, colour: usedColour },
  { title: 'RESETS', value: ({ resets_at: at }) => timeLeft(at) },
  {
    title: 'REACHED',
    value: ({ reached_at: at }) => (at === null ? null : timeLeft(at)),
    colour: reachedColour,
    importance: 'minor',
  },
];

const levels: Readonly<Record<Budget['tier'], number>> = { global: 0, org: 1, team: 2, agent: 3 };

function placeText({ tier, org_id, team_id, agent_id }: Budget): string {
  if (tier === 'global') return 'everybody';
  const ids = [org_id, team_id, agent_id].slice(0, levels[tier]);
  return ids.map((id) => (id === null || id === '' ? '-' : id)).join('/');
}

/** The share of the cap that is spent or reserved. Undefined without a cap. */
function usedShare({ limit_usd: limit, spent_usd: spent, reserved_usd: reserved }: Budget): number | undefined {
  if (limit === null) return undefined;
  const used = microsOf(spent) + microsOf(reserved);
  return microsOf(limit) === 0 ? (used > 0 ? Number.POSITIVE_INFINITY : 1) : used / microsOf(limit);
}

function usedText(budget: Budget): string | null {
  const share = usedShare(budget);
  if (share === undefined) return null;
  return Number.isFinite(share) ? `${Math.floor(share * 100)} %` : 'over';
}

function usedColour(budget: Budget): Colour | undefined {
  const share = usedShare(budget) ?? 0;
  return share >= 0.95 ? 'red' : share >= 0.8 ? 'yellow' : undefined;
}

function reachedColour({ reached_at: at }: Budget): Colour | undefined {
  return at === null ? undefined : 'yellow';
}

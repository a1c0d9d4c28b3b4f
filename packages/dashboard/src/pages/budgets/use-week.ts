import { useQuery } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import type { Budget } from './budget-model.ts';
import { loadBudgets, ownerQuery } from './load-budgets.ts';
import type { WeekRow } from './week-model.ts';
import { agentsToAsk, spentSince, weekStart } from './week-model.ts';

/** Each of them takes a call. */
const mostAgents = 200;
const atOnce = 6;

interface Week {
  readonly rows: readonly WeekRow[];
  /** How many agents were left out, because others spent more this month. */
  readonly left: number;
}

/** What each agent has spent in the last seven days. The gateway counts days and months, so this sums days. */
export function useWeek(isEnabled: boolean) {
  return useQuery({
    queryKey: ['budgetWeek'],
    queryFn: ({ signal }) => loadWeek(signal),
    enabled: isEnabled,
    refetchInterval: 60_000,
  });
}

async function loadWeek(signal: AbortSignal): Promise<Week> {
  const [{ items: days }, { items: months }] = await Promise.all([
    callRoute('listBudgets', { query: { period: 'day', per_page: 1 } }, { signal }),
    loadBudgets({ tier: 'agent', period: 'month' }, Infinity, signal),
  ]);
  const [today] = days;
  if (today === undefined) return { rows: [], left: 0 };
  const since = weekStart(today.resets_at);
  const { asked, left } = agentsToAsk(months, since, mostAgents);
  const spent = await inTurns(asked, async (budget): Promise<WeekRow> => {
    const query = { ...ownerQuery(budget), period: 'day', count: 7 } as const;
    const { items } = await callRoute('budgetHistory', { query }, { signal });
    return { budget, spentMicros: spentSince(items, since) };
  });
  const known = new Set<Budget>([...asked, ...left]);
  const idle = months.filter((budget) => !known.has(budget)).map((budget) => ({ budget, spentMicros: 0n }));
  return { rows: [...spent, ...idle], left: left.length };
}

/** Some at a time, so that other calls get through. */
async function inTurns<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

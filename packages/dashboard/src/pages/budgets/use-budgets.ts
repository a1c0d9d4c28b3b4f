import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useRefreshOn } from '../../api/use-refresh.ts';
import type { Budget, Period } from './budget-model.ts';
import { parseBudgetKey } from './budget-model.ts';
import { loadBudgets } from './load-budgets.ts';

/** Everybody, all orgs and teams, and agents without a team. A tenant gets the part that it may see. */
async function loadTop(period: Period, signal: AbortSignal): Promise<readonly Budget[]> {
  const parts = await Promise.all(
    [
      { tier: 'global' as const },
      { tier: 'org' as const },
      { tier: 'team' as const },
      { tier: 'agent' as const, team_id: '' },
    ].map((query) => loadBudgets({ ...query, period }, Infinity, signal)),
  );
  return parts.flatMap(({ items }) => items);
}

export interface OpenTeam {
  readonly key: string;
  /** How many of its agents to load. */
  readonly atMost: number;
}

/** Loads the agents of open teams on demand, and all of them for a search. */
export function useBudgets(period: Period, openTeams: readonly OpenTeam[], isSearching: boolean) {
  const top = useQuery({
    queryKey: ['listBudgets', 'top', period],
    queryFn: ({ signal }) => loadTop(period, signal),
    placeholderData: keepPreviousData,
  });
  const all = useQuery({
    queryKey: ['listBudgets', 'agents', period],
    queryFn: ({ signal }) => loadBudgets({ tier: 'agent', period }, Infinity, signal),
    enabled: isSearching,
    placeholderData: keepPreviousData,
  });
  const teams = useQueries({
    queries: openTeams.map(({ key, atMost }) => ({
      queryKey: ['listBudgets', 'team', period, key, atMost],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const owner = parseBudgetKey(key);
        const query = { tier: 'agent', period, org_id: owner?.org_id ?? '', team_id: owner?.team_id ?? '' } as const;
        return loadBudgets(query, atMost, signal);
      },
      enabled: !isSearching,
      placeholderData: keepPreviousData,
    })),
  });
  // Budget events refresh quickly. Settled operations only move the bars.
  useRefreshOn(['budget', 'policy', 'agent'], ['listBudgets', 'budgetHistory'], 1000);
  useRefreshOn(['ops_change'], ['listBudgets'], 4000);
  const byTeam = new Map(openTeams.map(({ key }, index) => [key, teams[index]]));
  return { top, all, byTeam };
}

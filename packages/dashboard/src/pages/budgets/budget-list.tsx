import { useState } from 'react';
import { plural } from '../../api/format.ts';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { budgetFilters } from './budget-filters.ts';
import type { Budget, Period } from './budget-model.ts';
import type { BudgetOrder } from './budget-order.ts';
import { orderedAgents } from './budget-order.ts';
import { BudgetTable } from './budget-table.tsx';
import { budgetTree, filterTree, linesOf } from './budget-tree.ts';
import type { BudgetsSearch } from './budgets-search.ts';
import { NoBudgets } from './no-budgets.tsx';
import { useBudgets } from './use-budgets.ts';

const atFirst = 50;

interface BudgetListProps {
  readonly search: BudgetsSearch;
  readonly period: Period;
  /** Everybody, the orgs and the teams. */
  readonly rows: readonly Budget[];
  readonly onChange: (changed: Partial<BudgetsSearch>) => void;
  readonly onOpen: (key: string) => void;
  readonly onSort: (sort: BudgetOrder | undefined) => void;
  readonly onClear: () => void;
}

/** The budgets of a day or month: a tree, or the agents in an order. */
export function BudgetList({ search, period, rows, onChange, onOpen, onSort, onClear }: BudgetListProps) {
  const [wanted, setWanted] = useState<ReadonlyMap<string, number>>(new Map());
  const { q, org_id, team_id, near, sort, open = [] } = search;
  const isSearching = q !== undefined || near === true || sort !== undefined;
  const openTeams = open.filter((key) => key.includes('/')).map((key) => ({ key, atMost: wanted.get(key) ?? atFirst }));
  const { all, byTeam } = useBudgets(period, openTeams, isSearching);
  const agents = isSearching
    ? (all.data?.items ?? [])
    : [...byTeam.values()].flatMap((team) => team?.data?.items ?? []);
  const linesShown = () => {
    const filter = { q, org_id, team_id, near };
    if (sort !== undefined) return orderedAgents(agents, sort, filter);
    const tree = filterTree(budgetTree([...rows, ...agents]), filter);
    // A search opens its matches, and a chosen org is open.
    const isOpen = (key: string) =>
      isSearching ||
      open.includes(key) ||
      (key === org_id && team_id === undefined) ||
      (team_id !== undefined && !key.includes('/'));
    const totalOf = (team: string) => (isSearching ? 0 : byTeam.get(team)?.data?.total);
    return linesOf(tree, { isOpen, totalOf });
  };
  const lines = linesShown();
  return (
    <>
      <FilterBar filters={budgetFilters(rows, org_id)} values={{ ...search }} onChange={onChange}>
        <span role="status" className="text-sm text-muted empty:hidden">
          {isSearching ? (all.isPending ? 'Reading the agents…' : plural(lines.length, 'line')) : ''}
        </span>
        <Checkbox
          label="Only past 80 %"
          checked={near === true}
          onChange={(isChecked) => onChange({ near: isChecked ? true : undefined })}
        />
      </FilterBar>
      <Card isFlush>
        {lines.length === 0 ? (
          <NoBudgets isNarrowed={rows.length > 0} isNear={near === true} onClear={onClear} />
        ) : (
          <BudgetTable
            lines={lines}
            sort={sort}
            onSort={onSort}
            activeKey={search.of}
            onOpen={onOpen}
            onToggle={(key) =>
              onChange({ open: open.includes(key) ? open.filter((each) => each !== key) : [...open, key] })
            }
            onMore={(team) => setWanted(new Map([...wanted, [team, (wanted.get(team) ?? atFirst) + 200]]))}
            errorOf={(team) => byTeam.get(team)?.error}
          />
        )}
        {isUnused(rows, agents) ? <NoBudgets isNarrowed={false} isNear={false} onClear={onClear} /> : null}
      </Card>
    </>
  );
}

/** Nobody has registered: there is the budget of everybody, and nothing else to show. */
function isUnused(rows: readonly Budget[], agents: readonly Budget[]): boolean {
  return agents.length === 0 && rows.length > 0 && rows.every(({ tier }) => tier === 'global');
}

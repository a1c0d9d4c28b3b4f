import './budgets.css';
import { useState } from 'react';
import { formatCount } from '../../api/format.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Countdown } from '../../ui/time.tsx';
import { BudgetDrawer } from './budget-drawer.tsx';
import { budgetFilters } from './budget-filters.ts';
import type { Budget, Period } from './budget-model.ts';
import { orderedAgents } from './budget-order.ts';
import { BudgetTable } from './budget-table.tsx';
import { budgetTree, filterTree, linesOf } from './budget-tree.ts';
import { parseBudgetsSearch } from './budgets-search.ts';
import { PriceNote } from './price-note.tsx';
import { useBudgets } from './use-budgets.ts';

const periods: readonly { readonly value: Period; readonly label: string }[] = [
  { value: 'day', label: 'Today' },
  { value: 'month', label: 'This month' },
];

const atFirst = 50;

export function BudgetsPage() {
  const [search, change] = usePageSearch(parseBudgetsSearch);
  const [wanted, setWanted] = useState<ReadonlyMap<string, number>>(new Map());
  const period = search.period ?? 'day';
  const { q, org_id, team_id, near, sort, open = [] } = search;
  const isSearching = q !== undefined || near === true || sort !== undefined;
  const openTeams = open.filter((key) => key.includes('/')).map((key) => ({ key, atMost: wanted.get(key) ?? atFirst }));
  const { top, all, byTeam } = useBudgets(period, openTeams, isSearching);
  const agents = isSearching
    ? (all.data?.items ?? [])
    : [...byTeam.values()].flatMap((team) => team?.data?.items ?? []);
  const toggle = (key: string) => {
    change({ open: open.includes(key) ? open.filter((each) => each !== key) : [...open, key] });
  };
  const linesFrom = (rows: readonly Budget[]) => {
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
  const clear = () => change({ q: undefined, org_id: undefined, team_id: undefined, near: undefined });
  return (
    <Page
      title="Budgets"
      note={
        <span className="flex flex-wrap gap-x-3">
          <Resets at={top.data?.[0]?.resets_at} />
          <PriceNote />
        </span>
      }
      actions={
        <Segments
          label="Period"
          value={period}
          choices={periods}
          onChange={(next) => change({ period: next === 'day' ? undefined : next })}
        />
      }
    >
      <Loaded query={top} what="The budgets" lines={8}>
        {(rows) => {
          const lines = linesFrom(rows);
          return (
            <>
              <FilterBar filters={budgetFilters(rows, org_id)} values={{ ...search }} onChange={change}>
                <span role="status" className="text-sm text-muted empty:hidden">
                  {isSearching && all.isPending ? 'Reading the agents…' : isSearching ? found(lines.length) : ''}
                </span>
                <Checkbox
                  label="Only past 80 %"
                  checked={near === true}
                  onChange={(isChecked) => change({ near: isChecked ? true : undefined })}
                />
              </FilterBar>
              <Card isFlush>
                {lines.length === 0 ? (
                  <NoBudgets isNarrowed={rows.length > 0} isNear={near === true} onClear={clear} />
                ) : (
                  <BudgetTable
                    lines={lines}
                    sort={sort}
                    onSort={(next) => change({ sort: next })}
                    activeKey={search.of}
                    onOpen={(key) => change({ of: key }, { isStep: true })}
                    onToggle={toggle}
                    onMore={(team) => setWanted(new Map([...wanted, [team, (wanted.get(team) ?? atFirst) + 200]]))}
                    errorOf={(team) => byTeam.get(team)?.error}
                  />
                )}
              </Card>
            </>
          );
        }}
      </Loaded>
      <BudgetDrawer of={search.of} period={period} onClose={() => change({ of: undefined })} />
    </Page>
  );
}

function found(lines: number): string {
  return `${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'}`;
}

/** All budgets of a period reset at the same moment. */
function Resets({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <span className="text-sm">
      Resets in <Countdown to={at} />
    </span>
  );
}

interface NoBudgetsProps {
  readonly isNarrowed: boolean;
  readonly isNear: boolean;
  readonly onClear: () => void;
}

function NoBudgets({ isNarrowed, isNear, onClear }: NoBudgetsProps) {
  if (isNarrowed) {
    const title = isNear ? 'Nothing has used up 80 % of its cap' : 'No budget fits these filters';
    return <EmptyState icon="search" title={title} actions={<Button onClick={onClear}>Clear filters</Button>} />;
  }
  return (
    <EmptyState icon="budgets" title="No budgets yet" command="reeve policy init">
      Each org, team and agent has one as soon as agents register. Caps are set in a policy:
    </EmptyState>
  );
}

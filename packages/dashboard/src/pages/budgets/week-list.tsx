import { microsToUsd, plural } from '../../api/format.ts';
import { AgentPath } from '../../ui/agent-path.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { budgetFilters } from './budget-filters.ts';
import type { Budget } from './budget-model.ts';
import { budgetKey, spanNames } from './budget-model.ts';
import type { BudgetOrder } from './budget-order.ts';
import type { BudgetsSearch } from './budgets-search.ts';
import { NoBudgets } from './no-budgets.tsx';
import { useWeek } from './use-week.ts';
import type { WeekRow } from './week-model.ts';
import { shownWeek } from './week-model.ts';

interface WeekListProps {
  readonly search: BudgetsSearch;
  /** Everybody, the orgs and the teams. */
  readonly rows: readonly Budget[];
  readonly onChange: (changed: Partial<BudgetsSearch>) => void;
  readonly onOpen: (key: string) => void;
  readonly onSort: (sort: BudgetOrder | undefined) => void;
  readonly onClear: () => void;
}

/** What the agents have spent in the last seven days, the dearest first. */
export function WeekList({ search, rows, onChange, onOpen, onSort, onClear }: WeekListProps) {
  const week = useWeek(true);
  const isAscending = search.sort === 'spent';
  return (
    <>
      <FilterBar filters={budgetFilters(rows, search.org_id)} values={{ ...search }} onChange={onChange}>
        <span role="status" className="text-sm text-muted empty:hidden">
          {week.isPending ? 'Summing the days…' : ''}
        </span>
      </FilterBar>
      <Loaded query={week} what="The last seven days" lines={8}>
        {({ rows: agents, left }) => {
          const shown = shownWeek(agents, search, isAscending);
          return (
            <Card isFlush>
              {shown.length === 0 ? (
                <NoBudgets isNarrowed={agents.length > 0} isNear={false} onClear={onClear} />
              ) : (
                <VirtualTable
                  label="Spent in the last 7 days"
                  columns={weekColumns(isAscending, onSort)}
                  rows={shown}
                  rowKey={({ budget }) => budgetKey(budget)}
                  rowHeight={40}
                  activeKey={search.of}
                  onOpen={({ budget }) => onOpen(budgetKey(budget))}
                  className="max-h-[max(20rem,calc(100dvh-13.25rem))]"
                />
              )}
              {left === 0 ? null : (
                <p className="border-t px-4 py-2 text-sm text-muted">
                  Without {plural(left, 'agent')} that spent less this month than these.
                </p>
              )}
            </Card>
          );
        }}
      </Loaded>
    </>
  );
}

function weekColumns(
  isAscending: boolean,
  onSort: (sort: BudgetOrder | undefined) => void,
): readonly Column<WeekRow>[] {
  return [
    {
      id: 'agent',
      header: 'Agent',
      width: 'minmax(0, 1fr)',
      cell: ({ budget }) => <AgentPath path={budgetKey(budget)} />,
    },
    {
      id: 'spent',
      header: spanNames.week,
      align: 'right',
      width: '8.5rem',
      order: {
        now: isAscending ? 'ascending' : 'descending',
        onOrder: (picked = isAscending ? 'descending' : 'ascending') =>
          onSort(picked === 'ascending' ? 'spent' : undefined),
      },
      cell: ({ spentMicros }) => <Money usd={microsToUsd(spentMicros)} />,
    },
    {
      id: 'month',
      header: spanNames.month,
      align: 'right',
      width: '8.5rem',
      isWideOnly: true,
      cell: ({ budget }) => <Money usd={budget.spent_usd} />,
    },
  ];
}

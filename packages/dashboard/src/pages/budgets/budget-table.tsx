import { useIsWide } from '../../ui/use-is-wide.ts';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { budgetColumns } from './budget-columns.tsx';
import type { BudgetOrder } from './budget-order.ts';
import type { BudgetLine } from './budget-tree.ts';

interface BudgetTableProps {
  readonly lines: readonly BudgetLine[];
  readonly sort: BudgetOrder | undefined;
  readonly onSort: (sort: BudgetOrder | undefined) => void;
  readonly activeKey: string | undefined;
  readonly onOpen: (key: string) => void;
  readonly onToggle: (key: string) => void;
  readonly onMore: (team: string) => void;
  /** Why the agents of a team could not be loaded. */
  readonly errorOf: (team: string) => unknown;
}

/** The tree line by line, for any number of lines. */
export function BudgetTable({ lines, sort, onSort, activeKey, onOpen, onToggle, onMore, errorOf }: BudgetTableProps) {
  const isWide = useIsWide();
  return (
    <VirtualTable
      label="Budgets"
      columns={budgetColumns({ isWide, sort, onSort, onToggle, onMore, errorOf })}
      rows={lines}
      rowKey={({ key }) => key}
      rowHeight={isWide ? 40 : 72}
      ownOrder={{ label: 'As a tree', onPick: () => onSort(undefined) }}
      activeKey={activeKey}
      onOpen={(line) => {
        if (line.kind === 'budget' && line.node.budget !== undefined) onOpen(line.key);
        if (line.kind === 'more') onMore(line.team);
      }}
      className="max-h-[max(20rem,calc(100dvh-13.25rem))]"
    />
  );
}

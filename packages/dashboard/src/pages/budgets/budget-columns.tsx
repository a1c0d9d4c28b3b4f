import type { ReactNode } from 'react';
import { plural } from '../../api/format.ts';
import { AgentPath } from '../../ui/agent-path.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import type { Column, ColumnOrder } from '../../ui/column.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Money } from '../../ui/money.tsx';
import { Unknown } from '../../ui/unknown.tsx';
import type { Budget } from './budget-model.ts';
import { tierNames } from './budget-model.ts';
import type { BudgetOrder, BudgetSort } from './budget-order.ts';
import { nextOrder } from './budget-order.ts';
import type { BudgetLine } from './budget-tree.ts';
import { Forecast } from './forecast.tsx';
import { LevelBadge, Percent, UsageBar } from './usage-bar.tsx';

interface ColumnOptions {
  readonly isWide: boolean;
  readonly sort: BudgetOrder | undefined;
  readonly onSort: (sort: BudgetOrder | undefined) => void;
  readonly onToggle: (key: string) => void;
  readonly onMore: (team: string) => void;
  /** Why the agents of a team could not be loaded. */
  readonly errorOf: (team: string) => unknown;
}

/** The columns of the tree. On a phone one column shows everything. */
export function budgetColumns({
  isWide,
  sort,
  onSort,
  onToggle,
  onMore,
  errorOf,
}: ColumnOptions): readonly Column<BudgetLine>[] {
  const sortable = (id: BudgetSort, column: Column<BudgetLine>): Column<BudgetLine> => {
    const now = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined;
    const onOrder: ColumnOrder['onOrder'] = (picked) =>
      onSort(picked === undefined ? nextOrder(sort, id) : picked === 'descending' ? `-${id}` : id);
    return { ...column, order: { now, onOrder } };
  };
  return [
    {
      id: 'name',
      header: 'Budget',
      width: isWide ? 'minmax(16rem, 2fr)' : 'minmax(0, 1fr)',
      cell: (line) => (
        <div className="flex items-center gap-1" style={{ paddingLeft: `${line.level * (isWide ? 1.25 : 0.75)}rem` }}>
          {line.kind === 'budget' ? (
            <NameCell line={line} isWide={isWide} onToggle={onToggle} />
          ) : line.kind === 'more' ? (
            <More left={line.left} onClick={() => onMore(line.team)} />
          ) : (
            <Waiting error={errorOf(line.team)} />
          )}
        </div>
      ),
    },
    sortable(
      'used',
      amount('usage', 'Used (striped: reserved)', 'minmax(14.5rem, 1.8fr)', (budget, line) => (
        <div className="flex items-center gap-2 text-left">
          <UsageBar budget={budget} name={line.node.name} />
          <span className="w-11">
            <Percent budget={budget} />
          </span>
          <span className="w-24">
            <LevelBadge budget={budget} />
          </span>
        </div>
      )),
    ),
    sortable(
      'spent',
      amount('spent', 'Spent', '6.5rem', (budget) => <Money usd={budget.spent_usd} />),
    ),
    sortable(
      'reserved',
      amount('reserved', 'Reserved', '7rem', (budget) => <Money usd={budget.reserved_usd} />),
    ),
    sortable(
      'cap',
      amount('cap', 'Cap', '6.5rem', (budget) =>
        budget.limit_usd === null ? <span className="text-muted">No cap</span> : <Money usd={budget.limit_usd} />,
      ),
    ),
    amount('forecast', 'Cap reached', '8.5rem', (budget) => <Forecast budget={budget} />),
  ];
}

type BudgetRow = Extract<BudgetLine, { readonly kind: 'budget' }>;

/** A column that is empty for lines without a budget. */
function amount(
  id: string,
  header: string,
  width: string,
  cell: (budget: Budget, line: BudgetRow) => ReactNode,
): Column<BudgetLine> {
  const align = id === 'usage' ? 'left' : 'right';
  return {
    id,
    header,
    width,
    align,
    isWideOnly: true,
    cell: (line) => {
      if (line.kind !== 'budget') return null;
      return line.node.budget === undefined ? <Unknown /> : cell(line.node.budget, line);
    },
  };
}

interface NameCellProps {
  readonly line: BudgetRow;
  readonly isWide: boolean;
  readonly onToggle: (key: string) => void;
}

function NameCell({ line, isWide, onToggle }: NameCellProps) {
  const { node, isOpen } = line;
  return (
    <>
      {isOpen === undefined ? (
        line.level === 0 ? null : (
          <span className="w-7 shrink-0" />
        )
      ) : (
        <IconButton
          icon={isOpen ? 'down' : 'right'}
          size="small"
          label={`${isOpen ? 'Close' : 'Open'} ${tierNames[node.tier].toLowerCase()} ${node.name}`}
          aria-expanded={isOpen}
          onClick={(event) => {
            // The surrounding line opens the drawer.
            event.stopPropagation();
            onToggle(line.key);
          }}
        />
      )}
      <div className="min-w-0 flex-1 leading-snug">
        <div className="flex items-baseline gap-1.5">
          {node.tier === 'agent' && line.level === 0 ? (
            <span className="min-w-0 font-medium">
              <AgentPath path={node.key} />
            </span>
          ) : (
            <span className="truncate font-medium" title={node.key === '*' ? node.name : node.key}>
              {node.name}
            </span>
          )}
          <span className="text-xs text-muted">{tierNames[node.tier]}</span>
        </div>
        {isWide || node.budget === undefined ? null : <PhoneNumbers budget={node.budget} name={node.name} />}
      </div>
    </>
  );
}

function PhoneNumbers({ budget, name }: { readonly budget: Budget; readonly name: string }) {
  return (
    <>
      {budget.limit_usd === null ? null : (
        <div className="my-0.5 flex items-center gap-2">
          <UsageBar budget={budget} name={name} />
          <Percent budget={budget} />
          <LevelBadge budget={budget} />
        </div>
      )}
      <div className="truncate text-xs text-muted">
        <Money usd={budget.spent_usd} /> spent, <Money usd={budget.reserved_usd} /> reserved,{' '}
        {budget.limit_usd === null ? (
          'no cap'
        ) : (
          <>
            of <Money usd={budget.limit_usd} />
          </>
        )}
      </div>
    </>
  );
}

function More({ left, onClick }: { readonly left: number; readonly onClick: () => void }) {
  return (
    <Button
      size="small"
      look="quiet"
      icon="down"
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
    >
      {plural(left, 'more agent')}
    </Button>
  );
}

function Waiting({ error }: { readonly error: unknown }) {
  if (error !== null && error !== undefined) return <ErrorNotice error={error} />;
  return (
    <span role="status" className="pl-7 text-muted">
      Loading the agents…
    </span>
  );
}

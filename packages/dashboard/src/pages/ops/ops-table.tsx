import { actionName } from '../../api/action-name.ts';
import { isOver } from '@reeve/contract/names';
import type { RefObject } from 'react';
import { createContext, use, useMemo, useState } from 'react';
import { AgentName } from '../../ui/agent-name.tsx';
import { classes } from '../../ui/classes.ts';
import type { Column, ColumnOrder, Direction } from '../../ui/column.ts';
import { DoorMark } from '../../ui/door-mark.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { Age } from '../../ui/time.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { OpCard } from './op-card.tsx';
import { endedMs, fadeMs } from './ops-board.ts';
import type { Sort, SortName } from './ops-search.ts';
import { nextSort } from './ops-view.ts';
import type { RowControls } from './row-actions.tsx';
import { RowActions } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { OrUnknown, RowSummary } from './row-summary.tsx';
import { StateCell } from './state-cell.tsx';

export interface OpsTableProps {
  readonly rows: readonly Row[];
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort | undefined) => void;
  readonly onOpen: (row: Row) => void;
  readonly openKey: string | undefined;
  readonly at: string | undefined;
  readonly onAt: (key: string) => void;
  readonly boxRef: RefObject<HTMLDivElement | null>;
  readonly onSight: (rows: readonly Row[]) => void;
  /** Missing if the person may only look. */
  readonly control?: RowControls | undefined;
}

/** The list itself: a row for each operation, a card on a phone. */
export function OpsTable({ rows, control, onOpen, openKey, at, onAt, boxRef, onSight, ...sorting }: OpsTableProps) {
  const { sort, onSort } = sorting;
  const hasReceipts = useHadReceipts(rows);
  // Rows are redrawn only if these, or what they show, have changed.
  const columns = useMemo(
    () => [
      ...(control === undefined ? [] : [selectColumn(control, at)]),
      ...dataColumns({ sort, onSort, hasReceipts }),
      ...(control === undefined ? [] : [actionsColumn(control, at)]),
    ],
    [control, at, sort, onSort, hasReceipts],
  );
  const card = useMemo(() => cardOf(control, at), [control, at]);
  return (
    <ShownRows value={rows}>
      <VirtualTable
        label="Operations"
        columns={columns}
        rows={rows}
        rowKey={keyOfRow}
        onOpen={onOpen}
        activeKey={openKey}
        at={at}
        onAt={onAt}
        boxRef={boxRef}
        onSight={onSight}
        isAnchored
        rowClass={rowClass}
        card={card}
        {...(control === undefined
          ? {}
          : { selected: control.selected, onToggle: (row: Row) => control.onToggle(row, false) })}
        className="h-[max(20rem,calc(100dvh-16rem))] max-md:h-[max(20rem,calc(100dvh-19.25rem))]"
      />
    </ShownRows>
  );
}

/** Whether a state ever had a receipt or a warning. Its room is then kept, so that the columns move only once. */
function useHadReceipts(rows: readonly Row[]): boolean {
  const [had, setHad] = useState(false);
  const has = had || rows.some(({ op, intent }) => op.control !== null || op.stale || intent !== undefined);
  if (has && !had) setHad(true);
  return has;
}

function cardOf(control: RowControls | undefined, at: string | undefined) {
  return {
    height: 96,
    cell: (row: Row) => <OpCard row={row} control={control} isAtHand={row.key === at} />,
  };
}

function keyOfRow({ key }: Row): string {
  return key;
}

/** Ended rows are dimmed, and fade before removal. */
function rowClass({ op, isGone, endedAt }: Row): string {
  const isFading = endedAt !== undefined && Date.now() - endedAt > endedMs - fadeMs;
  return classes(
    (isOver(op.state) || isGone) && 'text-muted',
    'transition-opacity duration-1000',
    isFading && 'opacity-30',
  );
}

const ShownRows = createContext<readonly Row[]>([]);

function SelectAll({ selected, onToggleAll }: Pick<RowControls, 'selected' | 'onToggleAll'>) {
  const rows = use(ShownRows);
  const count = selected.size === 0 ? 0 : rows.filter(({ key }) => selected.has(key)).length;
  return (
    <Checkbox
      label="Select all operations that the filters show"
      className="pt-0.5"
      isLabelHidden
      checked={count > 0 && count === rows.length}
      isMixed={count > 0 && count < rows.length}
      disabled={rows.length === 0}
      onChange={onToggleAll}
    />
  );
}

function selectColumn({ selected, onToggle, onToggleAll }: RowControls, at: string | undefined): Column<Row> {
  return {
    id: 'select',
    width: '2.25rem',
    header: <SelectAll selected={selected} onToggleAll={onToggleAll} />,
    cell: (row) => (
      <Checkbox
        label={`Select ${row.op.agent.agent_id}: ${row.op.resource}`}
        className="pt-0.5"
        isLabelHidden
        checked={selected.has(row.key)}
        tabIndex={row.key === at ? 0 : -1}
        onClick={(event) => {
          event.preventDefault();
          onToggle(row, event.shiftKey);
        }}
        onChange={() => undefined}
      />
    ),
  };
}

function actionsColumn({ onAct, onPoint }: RowControls, at: string | undefined): Column<Row> {
  return {
    id: 'actions',
    width: '4.5rem',
    header: <span className="sr-only">Controls</span>,
    cell: (row) => (
      <span className="block" onPointerEnter={() => onPoint(true)} onPointerLeave={() => onPoint(false)}>
        <RowActions row={row} onAct={onAct} isAtHand={row.key === at} />
      </span>
    ),
  };
}

interface DataColumnsOptions extends Pick<OpsTableProps, 'sort' | 'onSort'> {
  readonly hasReceipts: boolean;
}

function dataColumns({ sort, onSort, hasReceipts }: DataColumnsOptions): readonly Column<Row>[] {
  const column = (name: SortName, label: string, width: string, cell: Column<Row>['cell']): Column<Row> => {
    const onOrder: ColumnOrder['onOrder'] = (picked) =>
      onSort(picked === undefined ? nextSort(sort, name) : picked === 'descending' ? `-${name}` : name);
    return {
      id: name,
      width,
      header: label,
      order: { now: orderedBy(sort, name), onOrder },
      cell,
      ...(name === 'age' || name === 'cost' ? { align: 'right' } : {}),
    };
  };
  return [
    column('agent', 'Agent', 'minmax(5.5rem, 1fr)', ({ op }) => <AgentName agent={op.agent} isShort />),
    column('team', 'Team', 'minmax(4.75rem, 0.7fr)', ({ op }) => <OrUnknown text={op.agent.team_id} />),
    column('org', 'Org', 'minmax(6.5rem, 0.7fr)', ({ op }) => <OrUnknown text={op.agent.org_id} />),
    column('action', 'Action', '5.25rem', ({ op }) => <OrUnknown text={actionName(op.action_type) ?? ''} />),
    column('resource', 'Resource', 'minmax(8rem, 2fr)', ({ op }) => (
      <>
        <DoorMark via={op.via} />
        <OrUnknown text={op.resource} />
      </>
    )),
    column('summary', 'Summary', 'minmax(7rem, 1.6fr)', (row) => <RowSummary row={row} />),
    column('state', 'State', hasReceipts ? '11.5rem' : '7.25rem', (row) => <StateCell row={row} />),
    column('age', 'Age', '4.5rem', ({ op }) => (
      <Age since={op.registered_at} until={isOver(op.state) ? op.updated_at : null} />
    )),
    column('cost', 'Cost', '5rem', ({ op }) => <Money micros={op.action_type === null ? null : op.cost_micros} />),
  ];
}

function orderedBy(sort: Sort = 'age', name: SortName): Direction | undefined {
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
}

import { useVirtualizer } from '@tanstack/react-virtual';
import type { ReactNode, RefObject } from 'react';
import { useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { classes } from './classes.ts';
import type { Column } from './column.ts';
import type { OwnOrder } from './order-select.tsx';
import { OrderSelect } from './order-select.tsx';
import { useAnchor } from './use-anchor.ts';
import { useGridPosition } from './use-grid-position.ts';
import { useIsWide } from './use-is-wide.ts';
import { VirtualHeader } from './virtual-header.tsx';
import { VirtualRow } from './virtual-row.tsx';

interface VirtualTableProps<Row> {
  /** The name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly rowHeight?: number;
  readonly onOpen?: (row: Row) => void;
  readonly activeKey?: string | undefined;
  /** Space adds the current row to the selection, or removes it. */
  readonly selected?: ReadonlySet<string>;
  readonly onToggle?: (row: Row) => void;
  /** Called near the end, to load more. */
  readonly onEnd?: () => void;
  /** The total number of rows, if more than loaded. */
  readonly total?: number | undefined;
  /** The current row, if the page keeps it: for keys that work wherever the focus is. */
  readonly at?: string | undefined;
  readonly onAt?: (key: string) => void;
  /** The scrolling box, to focus or scroll it. */
  readonly boxRef?: RefObject<HTMLDivElement | null>;
  readonly rowClass?: (row: Row) => string | undefined;
  /** The form of a row below 768 px, in place of its columns. */
  readonly card?: { readonly height: number; readonly cell: (row: Row) => ReactNode };
  /** Called with the visible rows. */
  readonly onSight?: (rows: readonly Row[]) => void;
  /** Rows that come or go above the visible ones do not move them, except at the very top. */
  readonly isAnchored?: boolean;
  /** The order of the rows if they are ordered by no column. */
  readonly ownOrder?: OwnOrder;
  /** The greatest height of the box, which otherwise fits its rows: `max-h-…`. */
  readonly className?: string;
}

/** A table of any size that draws only the visible rows. Arrows or j and k move, Enter opens, Space selects. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { columns, rows, rowKey, selected, onOpen, onToggle, onAt } = props;
  const id = useId();
  const ownBox = useRef<HTMLDivElement>(null);
  const box = props.boxRef ?? ownBox;
  const [ownAt, setOwnAt] = useState<string>();
  const atKey = onAt === undefined ? ownAt : props.at;
  const setAtKey = onAt ?? setOwnAt;
  const { isWide, cards, shown, template, rowHeight } = useRowForm(props);
  const hasCards = cards !== undefined;
  const { items, height } = useVisibleRows(box, rowHeight, props);
  const { at, listeners } = useGridPosition({
    box,
    rows,
    rowKey,
    rowHeight,
    headerHeight: hasCards ? 0 : 36,
    atKey,
    onAt: setAtKey,
    onOpen,
    onToggle,
  });
  useAnchor(box, props.isAnchored ?? false, rows, rowKey, rowHeight);
  const pick = useCallback(
    (row: Row, isToOpen: boolean) => {
      setAtKey(rowKey(row));
      if (isToOpen) onOpen?.(row);
    },
    [setAtKey, rowKey, onOpen],
  );
  const active = rows[at];
  return (
    <>
      {isWide ? null : <OrderSelect columns={columns} own={props.ownOrder} />}
      <div
        ref={box}
        role="grid"
        aria-label={props.label}
        aria-rowcount={(props.total ?? rows.length) + 1}
        aria-colcount={Math.max(1, shown.length)}
        {...(selected === undefined ? {} : { 'aria-multiselectable': true })}
        {...(active === undefined || !items.some(({ index }) => index === at)
          ? {}
          : { 'aria-activedescendant': `${id}-${rowKey(active)}` })}
        tabIndex={0}
        {...listeners}
        className={classes('relative overflow-auto text-sm -outline-offset-2', props.className ?? 'max-h-[60dvh]')}
      >
        {hasCards ? null : <VirtualHeader columns={shown} template={template} />}
        <div role="rowgroup" className="relative" style={{ height }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = rowKey(row);
            return (
              <VirtualRow
                key={key}
                id={`${id}-${key}`}
                row={row}
                index={index}
                start={start}
                height={rowHeight}
                columns={shown}
                template={template}
                cell={cards?.cell}
                isSelected={selected?.has(key)}
                isActive={props.activeKey === key}
                isAtHand={atKey === key}
                isOpenable={onOpen !== undefined}
                className={props.rowClass?.(row)}
                onPick={pick}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

/** How rows look at the width of the window: as columns or, on a phone, as cards. */
function useRowForm<Row>({ columns, card, rowHeight = 36 }: VirtualTableProps<Row>) {
  const isWide = useIsWide();
  const cards = isWide ? undefined : card;
  const hasCards = cards !== undefined;
  const shown = useMemo(
    () => (hasCards ? [] : columns.filter((column) => isWide || column.isWideOnly !== true)),
    [hasCards, columns, isWide],
  );
  const template = shown.map(({ width = 'minmax(0, 1fr)' }) => width).join(' ');
  return { isWide, cards, shown, template, rowHeight: cards?.height ?? rowHeight };
}

/** The rows in sight and a few around them, and the height of all rows. */
function useVisibleRows<Row>(box: RefObject<HTMLDivElement | null>, rowHeight: number, props: VirtualTableProps<Row>) {
  const { rows, onEnd, onSight } = props;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    onChange: (instance) => {
      const last = instance.getVirtualItems().at(-1);
      if (last !== undefined && last.index >= rows.length - 20) onEnd?.();
    },
  });
  const items = virtualizer.getVirtualItems();
  useLayoutEffect(() => {
    if (onSight !== undefined) onSight(items.flatMap(({ index }) => rows[index] ?? []));
  }, [onSight, rows, items]);
  return { items, height: virtualizer.getTotalSize() };
}

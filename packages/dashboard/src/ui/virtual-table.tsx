import { useVirtualizer } from '@tanstack/react-virtual';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';
import { useCallback, useEffectEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { classes } from './classes.ts';
import type { Column } from './column.ts';
import { useIsWide } from './use-is-wide.ts';
import { cellClasses, VirtualRow } from './virtual-row.tsx';

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
  /** The greatest height of the box, which otherwise fits its rows: `max-h-…`. */
  readonly className?: string;
}

/** A table of any size that draws only the visible rows. Arrows or j and k move, Enter opens, Space selects. */
export function VirtualTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  rowHeight: wideHeight = 36,
  onOpen,
  activeKey,
  selected,
  onToggle,
  onEnd,
  total,
  at: givenAt,
  onAt,
  boxRef,
  rowClass,
  card,
  onSight,
  isAnchored = false,
  className,
}: VirtualTableProps<Row>) {
  const id = useId();
  const isWide = useIsWide();
  const ownBox = useRef<HTMLDivElement>(null);
  const isPressed = useRef(false);
  const box = boxRef ?? ownBox;
  const [ownAt, setOwnAt] = useState<string>();
  const atKey = onAt === undefined ? ownAt : givenAt;
  const setAtKey = onAt ?? setOwnAt;
  const cards = isWide ? undefined : card;
  const rowHeight = cards?.height ?? wideHeight;
  const hasCards = cards !== undefined;
  const shown = useMemo(
    () => (hasCards ? [] : columns.filter((column) => isWide || column.isWideOnly !== true)),
    [hasCards, columns, isWide],
  );
  const grid = { gridTemplateColumns: shown.map(({ width = 'minmax(0, 1fr)' }) => width).join(' ') };
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
  const at = rows.findIndex((row) => rowKey(row) === atKey);
  const headerHeight = hasCards ? 0 : 36;
  const showAt = useEffectEvent((key: string | undefined) => {
    const element = box.current;
    if (key === undefined || at < 0 || element === null) return;
    // Uses the current position of the box: the virtualizer may not know the last scroll yet.
    const start = at * rowHeight;
    const room = element.clientHeight - headerHeight;
    if (start < element.scrollTop) element.scrollTo({ top: start });
    else if (start + rowHeight > element.scrollTop + room) element.scrollTo({ top: start + rowHeight - room });
  });
  // Only when the current row changes: moving rows do not scroll the view.
  useLayoutEffect(() => showAt(atKey), [atKey]);
  useAnchor(box, isAnchored, rows, rowKey, rowHeight);
  useLayoutEffect(() => {
    if (onSight !== undefined) onSight(items.flatMap(({ index }) => rows[index] ?? []));
  }, [onSight, rows, items]);
  const goTo = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    setAtKey(rowKey(row));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / rowHeight) - 2);
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page }[event.key];
    const row = rows[at];
    if (step !== undefined) goTo(at < 0 ? 0 : at + step);
    else if (event.key === 'Home') goTo(0);
    else if (event.key === 'End') goTo(rows.length - 1);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
    else if (event.key === ' ' && row !== undefined) onToggle?.(row);
    else return;
    event.preventDefault();
  };
  const pick = useCallback(
    (row: Row, isToOpen: boolean) => {
      setAtKey(rowKey(row));
      if (isToOpen) onOpen?.(row);
    },
    [setAtKey, rowKey, onOpen],
  );
  const active = rows[at];
  return (
    <div
      ref={box}
      role="grid"
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      aria-colcount={Math.max(1, shown.length)}
      {...(selected === undefined ? {} : { 'aria-multiselectable': true })}
      {...(active === undefined || !items.some(({ index }) => index === at)
        ? {}
        : { 'aria-activedescendant': `${id}-${rowKey(active)}` })}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={() => {
        isPressed.current = true;
      }}
      onPointerUp={() => {
        isPressed.current = false;
      }}
      onBlur={() => {
        isPressed.current = false;
      }}
      onFocus={(event) => {
        // Not on a press: nothing may move under a pointer that is about to click.
        if (event.target !== event.currentTarget || at >= 0 || isPressed.current) return;
        goTo(Math.ceil(event.currentTarget.scrollTop / rowHeight));
      }}
      className={classes('relative overflow-auto text-sm -outline-offset-2', className ?? 'max-h-[60dvh]')}
    >
      {cards !== undefined ? null : (
        <div
          role="row"
          aria-rowindex={1}
          style={grid}
          className="sticky top-0 z-10 grid h-9 items-center border-b bg-surface px-2 font-medium text-muted"
        >
          {shown.map((column) => (
            <div
              key={column.id}
              role="columnheader"
              {...(column.sorted === undefined ? {} : { 'aria-sort': column.sorted })}
              className={cellClasses(column)}
            >
              {column.header}
            </div>
          ))}
        </div>
      )}
      <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
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
              template={grid.gridTemplateColumns}
              cell={cards?.cell}
              isSelected={selected?.has(key)}
              isActive={activeKey === key}
              isAtHand={atKey === key}
              isOpenable={onOpen !== undefined}
              className={rowClass?.(row)}
              onPick={pick}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Keeps the first visible row in its place on the screen, whatever is added or removed above it. */
function useAnchor<Row>(
  box: RefObject<HTMLDivElement | null>,
  isOn: boolean,
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  rowHeight: number,
): void {
  const before = useRef<readonly Row[]>([]);
  useLayoutEffect(() => {
    const element = box.current;
    const known = before.current;
    before.current = rows;
    if (!isOn || element === null || known === rows || element.scrollTop === 0) return;
    const index = Math.floor(element.scrollTop / rowHeight);
    const first = known[index];
    if (first === undefined) return;
    const key = rowKey(first);
    const moved = rows.findIndex((row) => rowKey(row) === key);
    if (moved >= 0 && moved !== index) element.scrollBy({ top: (moved - index) * rowHeight });
  }, [box, isOn, rows, rowKey, rowHeight]);
}

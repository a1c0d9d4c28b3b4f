import type { FocusEvent, KeyboardEvent, RefObject } from 'react';
import { useEffectEvent, useLayoutEffect, useRef } from 'react';

interface GridPosition<Row> {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly rowHeight: number;
  readonly headerHeight: number;
  readonly atKey: string | undefined;
  readonly onAt: (key: string) => void;
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly onToggle: ((row: Row) => void) | undefined;
}

/** The current row of a grid: moved by keys, kept in view. Returns its index and what the grid listens to. */
export function useGridPosition<Row>(given: GridPosition<Row>) {
  const { box, rows, rowKey, rowHeight, headerHeight, atKey, onAt, onOpen, onToggle } = given;
  const isPressed = useRef(false);
  const at = rows.findIndex((row) => rowKey(row) === atKey);
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
  const goTo = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row !== undefined) onAt(rowKey(row));
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
  const setPressed = (isDown: boolean) => () => {
    isPressed.current = isDown;
  };
  const onFocus = (event: FocusEvent<HTMLDivElement>) => {
    // Not on a press: nothing may move under a pointer that is about to click.
    if (event.target !== event.currentTarget || at >= 0 || isPressed.current) return;
    goTo(Math.ceil(event.currentTarget.scrollTop / rowHeight));
  };
  const listeners = {
    onKeyDown,
    onFocus,
    onPointerDown: setPressed(true),
    onPointerUp: setPressed(false),
    onBlur: setPressed(false),
  };
  return { at, listeners };
}

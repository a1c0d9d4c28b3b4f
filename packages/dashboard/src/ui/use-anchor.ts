import type { RefObject } from 'react';
import { useLayoutEffect, useRef } from 'react';

/** Keeps the first visible row in its place on the screen, whatever is added or removed above it. */
export function useAnchor<Row>(
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

import { useEffect, useMemo, useRef, useState } from 'react';
import type { Row } from './row-model.ts';
import { extendTo, nothing, onlyKnown, toggle, toggleAll } from './selection.ts';

export interface Chosen {
  readonly keys: ReadonlySet<string>;
  readonly rows: readonly Row[];
  /** How many selected rows the list does not show. */
  readonly hidden: number;
  readonly toggle: (row: Row, isRange: boolean) => void;
  readonly toggleAll: () => void;
  readonly clear: () => void;
}

/** The selected rows. Rows that no longer exist are deselected. */
export function useSelection(all: ReadonlyMap<string, Row>, shown: readonly Row[]): Chosen {
  const [selection, setSelection] = useState(nothing);
  const known = onlyKnown(selection, (key) => all.has(key));
  if (known !== selection) setSelection(known);
  const list = useRef(shown);
  useEffect(() => {
    list.current = shown;
  }, [shown]);
  // Passed to every row, so they stay the same for the life of the page.
  const actions = useMemo(() => {
    const order = () => list.current.map(({ key }) => key);
    return {
      toggle: (row: Row, isRange: boolean) =>
        setSelection((now) => (isRange ? extendTo(now, row.key, order()) : toggle(now, row.key))),
      toggleAll: () => setSelection((now) => toggleAll(now, order())),
      clear: () => setSelection(nothing),
    };
  }, []);
  const seen = new Set(known.keys.size === 0 ? [] : shown.map(({ key }) => key));
  return {
    ...actions,
    keys: known.keys,
    rows: [...known.keys].flatMap((key) => all.get(key) ?? []),
    hidden: [...known.keys].filter((key) => !seen.has(key)).length,
  };
}

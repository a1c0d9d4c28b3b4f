/** The selected rows, and the start of a range. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly anchor: string | undefined;
}

export const nothing: Selection = { keys: new Set(), anchor: undefined };

export function toggle({ keys }: Selection, key: string): Selection {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/** Everything from the last selected row to this one, in list order. */
export function extendTo(selection: Selection, key: string, order: readonly string[]): Selection {
  const from = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor);
  const to = order.indexOf(key);
  if (from < 0 || to < 0) return toggle(selection, key);
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { keys: new Set([...selection.keys, ...range]), anchor: selection.anchor };
}

/** Selects all rows, or none if all are selected already. */
export function toggleAll({ keys }: Selection, order: readonly string[]): Selection {
  const areAll = order.length > 0 && order.every((key) => keys.has(key));
  return areAll ? nothing : { keys: new Set(order), anchor: undefined };
}

/** Drops rows that no longer exist. If none is missing, the same selection comes back. */
export function onlyKnown(selection: Selection, isKnown: (key: string) => boolean): Selection {
  const kept = [...selection.keys].filter((key) => isKnown(key));
  return kept.length === selection.keys.size ? selection : { ...selection, keys: new Set(kept) };
}

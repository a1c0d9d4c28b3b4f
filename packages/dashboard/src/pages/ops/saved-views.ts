import type { OpsFilter, OpsSearch } from './ops-search.ts';
import { filterOf, parseOpsSearch } from './ops-search.ts';

/** A named filter and order. It is a link: the URL holds what it shows. */
export interface SavedView {
  readonly name: string;
  readonly filter: OpsFilter;
}

/** The built-in views. */
export const givenViews: readonly SavedView[] = [
  { name: 'In flight', filter: {} },
  { name: 'Waiting for a person', filter: { state: 'pending', sort: '-age' } },
  { name: 'Paused', filter: { state: 'paused' } },
  { name: 'Most expensive', filter: { sort: '-cost' } },
];

/** The stored views, as far as they are valid. */
export function readViews(text: string | null): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.flatMap((each: unknown) => readView(each) ?? []) : [];
  } catch {
    return [];
  }
}

function readView(kept: unknown): SavedView | undefined {
  if (typeof kept !== 'object' || kept === null || !('name' in kept) || !('filter' in kept)) return undefined;
  const { name, filter } = kept;
  if (typeof name !== 'string' || name === '' || typeof filter !== 'object' || filter === null) return undefined;
  return { name, filter: filterOf(parseOpsSearch({ ...filter })) };
}

/** Adds the view, or replaces the one of that name. Sorted by name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name));
}

export function isShown({ filter }: SavedView, search: OpsSearch): boolean {
  const shown = filterOf(search);
  return (Object.keys(shown) as (keyof OpsFilter)[]).every((member) => shown[member] === filter[member]);
}

export function isAnythingSet(search: OpsSearch): boolean {
  return Object.values(filterOf(search)).some((value) => value !== undefined);
}

/** Clears every filter and the order. */
export const clearedFilter: OpsFilter = filterOf({});

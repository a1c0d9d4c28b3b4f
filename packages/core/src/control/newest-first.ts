import type { EpochMs } from '../kernel/index.ts';

/** Where an item stands in a list: by its time, and by its id among those of the same time. */
export interface ListPlace {
  readonly at: EpochMs;
  readonly id: string;
}

/** How items of a list are told apart. An id that takes a digest is asked for only among those of the same time. */
export interface Listed<Item> {
  at(item: Item): EpochMs;
  id(item: Item): string;
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** The place before which the next page starts; null if there is none. */
  readonly next: ListPlace | null;
  readonly total: number;
}

/** How many items one step looks at: about a millisecond. */
const looksPerStep = 5000;

/** A page of the items that fit, newest first. It looks at all of them, in steps between decisions. */
export function* newestFirst<Item>(
  items: Iterable<Item>,
  fits: (item: Item) => boolean,
  listed: Listed<Item>,
  { before, limit }: { readonly before?: ListPlace | undefined; readonly limit: number },
): Generator<void, ListPage<Item>> {
  const { at, id } = listed;
  const byTime = (a: Item, b: Item) => at(b) - at(a) || (id(a) > id(b) ? -1 : 1);
  const newest = (some: readonly Item[]) => some.toSorted(byTime).slice(0, limit + 1);
  const isLater = (item: Item, { at: time, id: name }: ListPlace) =>
    at(item) < time || (at(item) === time && id(item) < name);
  let found: Item[] = [];
  let total = 0;
  let looked = 0;
  for (const item of items) {
    if (++looked % looksPerStep === 0) yield;
    if (!fits(item)) continue;
    total++;
    if (before !== undefined && !isLater(item, before)) continue;
    found.push(item);
    if (found.length > 4 * limit + 1000) found = newest(found);
  }
  const rest = newest(found);
  const last = rest[limit - 1];
  const next = rest.length > limit && last !== undefined ? { at: at(last), id: id(last) } : null;
  return { items: rest.slice(0, limit), next, total };
}

import { mostBytesOfPage } from '@reeve/core';

/** Room for the members of a page beside its items, such as its cursor and total. */
const besideItems = 4096;

/**
 * As many items as fit on a page by their size as JSON, at least one. If some are left out, the list continues after
 * the last one kept, and the page says so.
 */
export function fitting<Item, Json>(items: readonly Item[], jsonOf: (item: Item) => Json): Json[] {
  const kept: Json[] = [];
  let bytes = besideItems;
  for (const item of items) {
    const json = jsonOf(item);
    bytes += Buffer.byteLength(JSON.stringify(json)) + 1;
    if (bytes > mostBytesOfPage && kept.length > 0) break;
    kept.push(json);
  }
  return kept;
}

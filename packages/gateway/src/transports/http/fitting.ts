import { mostBytesOfPage } from '@reeve/core';

/** What a page has beside its items: where it goes on, how many there are in all. */
const besideItems = 4096;

/**
 * As many of the items as a page holds in bytes, as JSON: one at least. Where it is fewer than there are, the list goes
 * on after the last of them, and the page says so.
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

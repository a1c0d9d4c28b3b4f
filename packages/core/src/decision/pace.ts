import type { Clock } from '../kernel/index.ts';

/** How long a batch or a stream may keep others waiting, in milliseconds. */
export const longestStretch = 2;

/**
 * How many proofs of one batch or stream may be under way. Each is work for a moment, and all that end together are work in
 * one go.
 */
export const mostUnderWay = 8;

/** What it takes to let others run in between. */
interface Pacing {
  readonly clock: Clock;
  readonly journal: { nextTurn(): Promise<void> };
}

/** Begins some work for each item, in order, and waits until all of it is done. It yields to others. */
export async function pace<Item>(
  { clock, journal }: Pacing,
  items: readonly Item[],
  begin: (item: Item) => Promise<void> | undefined,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const all: Promise<void>[] = [];
  let stretch = clock.elapsed();
  for (const item of items) {
    const work = begin(item);
    if (work !== undefined) {
      const done = work.finally(() => underWay.delete(done));
      // Whoever waits for all is told. Until then nobody handles a failure.
      done.catch(() => undefined);
      all.push(done);
      underWay.add(done);
      if (underWay.size >= mostUnderWay) await Promise.race(underWay);
    }
    if (clock.elapsed() - stretch < longestStretch) continue;
    await journal.nextTurn();
    stretch = clock.elapsed();
  }
  await Promise.all(all);
}

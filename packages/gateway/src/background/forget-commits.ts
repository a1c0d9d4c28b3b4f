/** How long a gateway may be away and still find what it has missed. */
const keptMs = 600_000;
const everyMs = 60_000;

/** Forgets commits that every gateway has had time to follow. */
export function forgetCommits(
  store: { forgetCommits(through: number): Promise<void> },
  feed: { readonly version: number },
  leads: () => boolean,
): () => void {
  const marks: { readonly at: number; readonly version: number }[] = [];
  const timer = setInterval(() => {
    const now = performance.now();
    marks.push({ at: now, version: feed.version });
    const old = marks.findLast(({ at }) => at <= now - keptMs);
    if (old === undefined) return;
    marks.splice(0, marks.indexOf(old) + 1);
    // That commit itself stays: a gateway may still stand on it, and compares. What could not be removed now goes with
    // the next.
    if (leads()) void store.forgetCommits(old.version - 1).catch(() => undefined);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

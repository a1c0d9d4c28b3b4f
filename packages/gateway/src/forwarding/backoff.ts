const firstMs = 250;
const longestMs = 30_000;
/** A target may ask for more time than that, up to this. */
const longestAskedMs = 3_600_000;

/**
 * How long to wait after so many failures in a row. The pauses double, and half of each is random, so that many senders
 * do not come back at the same moment.
 */
export function backoffMs(failures: number, askedMs: number, random: () => number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 16));
  return Math.max(full / 2 + (full / 2) * random(), Math.min(askedMs, longestAskedMs));
}

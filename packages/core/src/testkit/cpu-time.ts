/** On some machines the processor's clock moves in steps of some milliseconds, and less than a few steps says nothing. */
const leastMs = Math.max(3, 3 * stepMs());
const mostTimes = 10_000;

/**
 * The least processor time that some work takes, in milliseconds. Waiting on a busy machine does not count, so a test
 * can compare two durations even while other tests run. Short work runs many times.
 */
export function cpuMs(work: () => unknown, runs = 3): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, cpuMsOf(work));
  return best;
}

function cpuMsOf(work: () => unknown): number {
  const before = spentMs();
  for (let times = 1; ; times++) {
    work();
    const spent = spentMs() - before;
    if (spent >= leastMs || times === mostTimes) return spent / times;
  }
}

/** Of the process: Linux counts that in microseconds, but that of a thread only at every tick. */
function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function stepMs(): number {
  const next = (from: number): number => {
    let now = from;
    while (now === from) now = spentMs();
    return now;
  };
  const start = next(spentMs());
  return next(start) - start;
}

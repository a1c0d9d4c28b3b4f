/** The processor's clock moves in steps of some milliseconds, so less than this says nothing. */
const leastMs = 10;
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
  const before = process.threadCpuUsage();
  for (let times = 1; ; times++) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    const spent = (user + system) / 1000;
    if (spent >= leastMs || times === mostTimes) return spent / times;
  }
}

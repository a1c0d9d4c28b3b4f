/** The clock of the processor goes in steps of some milliseconds: less than this says nothing. */
const leastMs = 10;
const mostTimes = 10_000;

/**
 * How much of the processor some work takes at best, in milliseconds. A busy machine lets a thread wait, which counts for
 * nothing here: so a test can hold one duration against another, also while other tests run. What is soon done is done
 * many times.
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

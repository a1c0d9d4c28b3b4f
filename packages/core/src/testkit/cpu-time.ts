/**
 * How much of the processor some work takes at best, in milliseconds. A busy machine lets a thread wait, which counts for
 * nothing here: so a test can hold one duration against another, also while other tests run.
 */
export function cpuMs(work: () => unknown, runs = 3): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

import { expect } from 'vitest';

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

/**
 * A text of four times the length may take as long as four short ones, and a bit more. Quadratic work takes four
 * times as long as that. The clock may tick only every few milliseconds, so a result that seems too long is measured
 * over more runs.
 */
export function expectProportional(work: (text: string) => unknown, small: string, large: string): void {
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && ratio >= 2.25; attempt++) {
    const runs = 1 + attempt;
    const four = () => {
      for (let run = 0; run < 4; run++) work(small);
    };
    ratio = cpuMs(() => work(large), runs) / cpuMs(four, runs);
  }
  expect(ratio).toBeLessThan(2.25);
}

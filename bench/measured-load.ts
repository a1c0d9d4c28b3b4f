import { Histogram } from './histogram.ts';
import type { LoadResult } from './load-protocol.ts';
import { machineBusyMicros, pause, untilAtRest, usageOf } from './process-usage.ts';

export interface Measured {
  readonly target: string;
  readonly pid: number;
  readonly warmupSecs: number;
  readonly seconds: number;
}

/** What the lanes of a load look at and report to. */
export interface Recorder {
  /** Whether to send another request. */
  going(): boolean;
  /** For each answer: when its request was sent, and how many decisions it allows; undefined if the call failed. */
  settle(startedAt: number, allowed: number | undefined): void;
}

const mostFailures = 1000;

/** Runs lanes against a server, for the warm-up and for the measured time. `start` resolves when all have ended. */
export async function measureLoad(
  job: Measured,
  perCall: number,
  start: (recorder: Recorder) => Promise<() => Promise<void>>,
): Promise<LoadResult> {
  const before = usageOf(job.pid);
  const histogram = new Histogram();
  let phase: 'warmup' | 'measuring' | 'over' = 'warmup';
  const inAll = { calls: 0, allowed: 0, failed: 0 };
  const end = await start({
    going: () => phase !== 'over',
    settle: (startedAt, allowed) => {
      inAll.calls++;
      if (allowed === undefined) inAll.failed++;
      else inAll.allowed += allowed;
      if (phase === 'measuring') histogram.record((performance.now() - startedAt) * 1000);
      if (inAll.failed > mostFailures) throw new Error(`more than ${mostFailures} calls to ${job.target} failed`);
    },
  });

  await pause(job.warmupSecs);
  const from = observe(job.pid);
  phase = 'measuring';
  await pause(job.seconds);
  phase = 'over';
  const to = observe(job.pid);
  await end();
  await untilAtRest(job.pid);

  const seconds = (to.at - from.at) / 1000;
  const serverCpu = (to.server.cpuMicros ?? 0) - (from.server.cpuMicros ?? 0);
  const loadCpuMicros = to.loadCpu - from.loadCpu;
  const others = to.machineBusy - from.machineBusy - serverCpu - loadCpuMicros;
  return {
    calls: histogram.total,
    decisions: histogram.total * perCall,
    seconds,
    counts: histogram.counts,
    decisionsInAll: inAll.calls * perCall,
    allowed: inAll.allowed,
    failed: inAll.failed,
    server: { before, after: to.server, atRest: usageOf(job.pid) },
    loadCpuMicros,
    othersCores: Math.max(0, others / 1e6 / seconds),
  };
}

function observe(pid: number) {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), server: usageOf(pid), loadCpu: user + system, machineBusy: machineBusyMicros() };
}

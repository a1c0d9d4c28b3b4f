import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** What a process has used. Undefined members cannot be read on this platform. */
export interface Usage {
  /** Of all its threads, in user and kernel mode, since it started. */
  readonly cpuMicros: number | undefined;
  /** The same by the name of the thread; threads of one name together. */
  readonly cpuMicrosByThread: Readonly<Record<string, number>>;
  readonly rssBytes: number | undefined;
}

/** Linux counts in hundredths of a second towards programs, whatever its own clock. */
const microsPerTick = 10_000;

export function usageOf(pid: number): Usage {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return {
    cpuMicros: statOf(`/proc/${pid}/stat`)?.cpuMicros,
    cpuMicrosByThread: byThread(`/proc/${pid}/task`),
    rssBytes: kilobytes === undefined ? undefined : Number(kilobytes) * 1024,
  };
}

/** The time that all cores together were busy, since the machine started: shows who else was at work. */
export function machineBusyMicros(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) * 1000;
}

const restWithinMs = 20_000;

/** Waits until a process has next to nothing left to do, and for a while at most. */
export async function untilAtRest(pid: number): Promise<void> {
  const deadline = performance.now() + restWithinMs;
  let last = Number.NEGATIVE_INFINITY;
  while (performance.now() < deadline) {
    const { cpuMicros } = usageOf(pid);
    if (cpuMicros === undefined || cpuMicros - last <= microsPerTick) return;
    last = cpuMicros;
    await pause(0.6);
  }
}

export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

function byThread(folder: string): Record<string, number> {
  const micros: Record<string, number> = {};
  for (const thread of list(folder)) {
    const stat = statOf(`${folder}/${thread}/stat`);
    if (stat !== undefined) micros[stat.name] = (micros[stat.name] ?? 0) + stat.cpuMicros;
  }
  return micros;
}

/** The name stands in brackets and may hold anything; what follows the last one is numbers. */
function statOf(path: string): { name: string; cpuMicros: number } | undefined {
  const stat = read(path);
  if (stat === undefined) return undefined;
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { name: stat.slice(stat.indexOf('(') + 1, end), cpuMicros: ticks * microsPerTick };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

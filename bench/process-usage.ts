import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** The resources that a process has used. Undefined members cannot be read on this platform. */
export interface Usage {
  /** CPU time of all threads since the start, in user and kernel mode. */
  readonly cpuMicros: number | undefined;
  /** The same by thread name; threads of one name are added up. */
  readonly cpuMicrosByThread: Readonly<Record<string, number>>;
  readonly rssBytes: number | undefined;
}

/** Linux reports in hundredths of a second to programs, whatever its own clock. */
const microsPerTick = 10_000;

export function usageOf(pid: number): Usage {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return {
    cpuMicros: statOf(`/proc/${pid}/stat`)?.cpuMicros,
    cpuMicrosByThread: byThread(`/proc/${pid}/task`),
    rssBytes: kilobytes === undefined ? undefined : Number(kilobytes) * 1024,
  };
}

/** CPU time of a process, and of its children that have ended. */
export function cpuMicrosWithChildren(pid: number): number | undefined {
  return statOf(`/proc/${pid}/stat`)?.withChildren;
}

/**
 * The time that all cores were busy since the machine started, or that the host of a virtual machine gave to others. It
 * shows whether others were at work.
 */
export function machineBusyMicros(): number {
  const busy = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) * 1000;
  const stolenTicks = /^cpu +(?:\d+ ){7}(\d+)/m.exec(read('/proc/stat') ?? '')?.[1];
  return busy + Number(stolenTicks ?? 0) * microsPerTick;
}

const restWithinMs = 20_000;

/** Waits until a process has next to nothing left to do, up to a limit. */
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

/** The name is in brackets and may hold anything; only numbers follow the last bracket. */
function statOf(path: string): { name: string; cpuMicros: number; withChildren: number } | undefined {
  const stat = read(path);
  if (stat === undefined) return undefined;
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const withChildren = ticks + Number(fields[13]) + Number(fields[14]);
  const name = stat.slice(stat.indexOf('(') + 1, end);
  return { name, cpuMicros: ticks * microsPerTick, withChildren: withChildren * microsPerTick };
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

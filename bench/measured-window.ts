import type { EventQueue } from './event-queue.ts';
import type { SimulatedCpu } from './simulated-cpu.ts';

/** What is measured once a simulation has warmed up. */
interface Window {
  readonly queue: EventQueue;
  readonly warmUpMicros: number;
  readonly seconds: number;
  readonly members: readonly { readonly cpu: SimulatedCpu }[];
  /** What all members wait for, and for how long it was held so far. */
  readonly lock: { readonly heldFor: number };
  /** Of the answers within the window. It grows meanwhile. */
  readonly latencies: number[];
}

export interface Measured {
  readonly answeredPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** For which part of the time the lock was held. */
  readonly held: number;
  /** For which part of the time the busiest member worked. */
  readonly busy: number;
}

/** Runs a simulation to the end of its window. */
export function measureWindow({ queue, warmUpMicros, seconds, members, lock, latencies }: Window): Measured {
  queue.runUntil(warmUpMicros);
  const heldBefore = lock.heldFor;
  const workedBefore = members.map(({ cpu }) => cpu.worked);
  const measured = seconds * 1e6;
  queue.runUntil(warmUpMicros + measured);
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    answeredPerSecond: latencies.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    held: Math.min(1, (lock.heldFor - heldBefore) / measured),
    busy: Math.min(1, Math.max(...members.map(({ cpu }, nth) => cpu.worked - (workedBefore[nth] ?? 0))) / measured),
  };
}

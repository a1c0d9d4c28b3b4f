import type { Pair } from './calm-rounds.ts';
import { Histogram } from './histogram.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';

/** The figures of one server over all its rounds. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly p999Micros: number;
  readonly cpuMicros: number;
  readonly rssBytes: number;
  /** CPU of the load process, to show that it was not the bottleneck. */
  readonly loadCpuMicros: number;
  readonly othersCores: number;
}

export function figuresOf(rounds: readonly LoadResult[]): Figures {
  const histogram = new Histogram();
  for (const round of rounds) histogram.add(round.counts);
  const decisions = sum(rounds.map((round) => round.decisions));
  const seconds = sum(rounds.map((round) => round.seconds));
  return {
    perSecond: decisions / seconds,
    p50Micros: histogram.quantile(0.5),
    p99Micros: histogram.quantile(0.99),
    p999Micros: histogram.quantile(0.999),
    cpuMicros: sum(rounds.map(cpuMicrosOf)) / sum(rounds.map((round) => round.decisionsInAll)),
    rssBytes: Math.max(...rounds.map((round) => round.server.after.rssBytes ?? Number.NaN)),
    loadCpuMicros: sum(rounds.map((round) => round.loadCpuMicros)) / decisions,
    othersCores: sum(rounds.map((round) => round.othersCores * round.seconds)) / seconds,
  };
}

export function perSecondOf(round: LoadResult): number {
  return round.decisions / round.seconds;
}

export function cpuPerDecisionOf(round: LoadResult): number {
  return cpuMicrosOf(round) / round.decisionsInAll;
}

/** The ratio of the costs, pair by pair. */
export function cpuRatioOf(pairs: readonly Pair[]): Spread {
  return spreadOf(pairs.map(({ base, tested }) => cpuPerDecisionOf(tested) / cpuPerDecisionOf(base)));
}

/** The same for the cheapest round of each, which others disturbed least. */
export function quietCpuRatioOf(pairs: readonly Pair[]): number {
  const cheapest = (rounds: readonly LoadResult[]) => Math.min(...rounds.map(cpuPerDecisionOf));
  return cheapest(pairs.map(({ tested }) => tested)) / cheapest(pairs.map(({ base }) => base));
}

/** CPU per decision by the name of the thread. */
export function cpuByThreadOf({ server, decisionsInAll }: LoadResult): Record<string, number> {
  const before = server.before.cpuMicrosByThread;
  return Object.fromEntries(
    Object.entries(server.atRest.cpuMicrosByThread).map(([name, micros]) => [
      name,
      (micros - (before[name] ?? 0)) / decisionsInAll,
    ]),
  );
}

/** CPU time from the first call until the server was at rest. */
function cpuMicrosOf({ server }: LoadResult): number {
  return (server.atRest.cpuMicros ?? Number.NaN) - (server.before.cpuMicros ?? Number.NaN);
}

/** A load without the expected answers is not a measurement. */
export function checkRound(round: LoadResult, what: string): LoadResult {
  if (round.failed > 0 || round.allowed !== round.decisionsInAll || round.decisions === 0) {
    throw new Error(
      `${what}: of ${round.decisionsInAll} decisions ${round.allowed} were allowed and ${round.failed} calls failed`,
    );
  }
  return round;
}

/** One round of calls of the fleet of a gateway. What it has begun is completed afterwards. */
export async function measureRound(
  load: LoadProcess,
  pace: Pace,
  shape: Shape,
  { grpc, pid }: GatewayProcess,
  warmupSecs: number,
): Promise<LoadResult> {
  const job = { kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds: pace.seconds } as const;
  const result = checkRound(await load.run(job), shape.name);
  await load.run({ kind: 'complete', fleet: grpc, pid });
  return result;
}

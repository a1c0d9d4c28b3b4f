import type { Pair } from './calm-rounds.ts';
import { calmPairs, othersLine } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, LoginsResult, Shape } from './load-protocol.ts';
import { registerPeople } from './login-lanes.ts';
import type { Pace } from './options.ts';
import type { Figures } from './rounds.ts';
import { checkRound, figuresOf, perSecondOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { count, duration, ratio, textTable } from './table.ts';

export interface LoginsRow {
  readonly shape: Shape;
  /** How many people log in all the time, beside the decisions. */
  readonly people: number;
  readonly alone: Figures;
  readonly beside: Figures;
  /** With logins over without, round by round. */
  readonly p50Ratio: Spread;
  readonly p99Ratio: Spread;
  readonly throughputRatio: Spread;
  readonly loginsPerSecond: number;
  readonly loginP50Micros: number;
  readonly leftOut: number;
}

const shapes: readonly Shape[] = [
  { name: '1 call', method: 'unary', connections: 1, inFlight: 1 },
  { name: '16 connections', method: 'unary', connections: 16, inFlight: 1 },
];
const manyPeople = 50;

/**
 * Decisions without logins and beside many, in turn on the same gateway. The rows with nobody logging in show the
 * precision of the method.
 */
export async function measureLogins(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<LoginsRow[]> {
  const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_AUTH_OPEN_REGISTRATION: 'true' };
  const rows: LoginsRow[] = [];
  for (const shape of shapes) {
    for (const people of [0, manyPeople]) {
      tell(`${shape.name}, ${people} logins at a time …`);
      const [load, visitors] = [startLoad(cores.load), startLoad(cores.load)];
      const gateway = await startGateway({ core: cores.server, env });
      try {
        await registerPeople(gateway.http, people);
        await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
        rows.push(await measureRow({ load, visitors, gateway }, pace, shape, people));
      } finally {
        await Promise.all([load.stop(), visitors.stop(), gateway.stop()]);
      }
    }
  }
  return rows;
}

interface Scene {
  readonly load: LoadProcess;
  readonly visitors: LoadProcess;
  readonly gateway: GatewayProcess;
}

async function measureRow(scene: Scene, pace: Pace, shape: Shape, people: number): Promise<LoginsRow> {
  const logins = new Map<LoadResult, LoginsResult>();
  const pair = async (warmupSecs: number): Promise<Pair> => {
    const base = await decide(scene, pace, shape, warmupSecs);
    const time = { people, seconds: warmupSecs + pace.seconds };
    const visits = scene.visitors.run({ kind: 'logins', http: scene.gateway.http, ...time });
    const [tested, visited] = await Promise.all([decide(scene, pace, shape, warmupSecs), visits]);
    if (visited.failed > 0) throw new Error(`${visited.failed} of ${visited.done} logins failed`);
    logins.set(tested, visited);
    return { base, tested };
  };
  await pair(pace.warmupSecs);
  const { pairs, leftOut } = await calmPairs(pace.rounds, () => pair(pace.leadInSecs));
  const visited = pairs.flatMap(({ tested }) => logins.get(tested) ?? []);
  const durations = new Histogram();
  for (const { counts } of visited) durations.add(counts);
  const quantileRatio = (share: number) =>
    spreadOf(pairs.map(({ base, tested }) => quantileOf(tested, share) / quantileOf(base, share)));
  return {
    shape,
    people,
    alone: figuresOf(pairs.map(({ base }) => base)),
    beside: figuresOf(pairs.map(({ tested }) => tested)),
    p50Ratio: quantileRatio(0.5),
    p99Ratio: quantileRatio(0.99),
    throughputRatio: spreadOf(pairs.map(({ base, tested }) => perSecondOf(tested) / perSecondOf(base))),
    loginsPerSecond: sum(visited.map(({ done }) => done)) / sum(visited.map(({ seconds }) => seconds)),
    loginP50Micros: durations.quantile(0.5),
    leftOut,
  };
}

async function decide({ load, gateway }: Scene, pace: Pace, shape: Shape, warmupSecs: number): Promise<LoadResult> {
  const { grpc, pid } = gateway;
  const job = { kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds: pace.seconds } as const;
  const result = checkRound(await load.run(job), shape.name);
  await load.run({ kind: 'complete', fleet: grpc, pid });
  return result;
}

function quantileOf({ counts }: LoadResult, share: number): number {
  return new Histogram(counts).quantile(share);
}

export function loginsTable(rows: readonly LoginsRow[]): string {
  const header = [
    'decisions',
    'logins at a time',
    'p99',
    'alone',
    'p99 over alone',
    'p50 over alone',
    'decisions/s over alone',
    'logins/s',
    'p50 of a login',
  ];
  const body = rows.map((row) => [
    row.shape.name,
    row.people === 0 ? 'none: twice the same' : count(row.people),
    duration(row.beside.p99Micros),
    duration(row.alone.p99Micros),
    ratio(row.p99Ratio),
    ratio(row.p50Ratio),
    ratio(row.throughputRatio),
    row.people === 0 ? '' : count(row.loginsPerSecond),
    row.people === 0 ? '' : duration(row.loginP50Micros),
  ]);
  const others = rows.map(({ alone, beside }) => Math.max(alone.othersCores, beside.othersCores));
  const left = sum(rows.map(({ leftOut }) => leftOut));
  return [textTable(header, body), '', othersLine(others, left)].join('\n');
}

import type { Pair } from './calm-rounds.ts';
import { calmPairs } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { FollowedResult, LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { Figures } from './rounds.ts';
import { checkRound, cpuRatioOf, figuresOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

export interface FanOutRow {
  readonly shape: Shape;
  readonly clients: number;
  /** Decisions without clients, and with them. */
  readonly alone: Figures;
  readonly beside: Figures;
  /** Events that arrived at clients, counted once per client. */
  readonly eventsPerSecond: number;
  readonly megabytesPerSecond: number;
  /** The delay from an event to its arrival, to the millisecond. */
  readonly delayP50Micros: number;
  readonly delayP99Micros: number;
  /** With clients over without, round by round. */
  readonly p50Ratio: Spread;
  readonly p99Ratio: Spread;
  readonly cpuRatio: Spread;
  readonly leftOut: number;
}

/** Each decision makes three events: its operation is ingested and moved, and the decision itself. */
const eventsPerDecision = 3;

const shapes: readonly Shape[] = [
  { name: 'steady', method: 'unary', connections: 4, inFlight: 5, restMs: 100 },
  { name: 'flat out', method: 'unary', connections: 16, inFlight: 1 },
];

/** At full load, the one core of the clients must still be able to read all they are sent. */
const mostFlatOut = 10;

/** Decisions with and without WebSockets that follow all events, in turn on the same gateway. */
export async function measureFanOut(
  cores: Cores,
  pace: Pace,
  most: number,
  tell: (line: string) => void,
): Promise<FanOutRow[]> {
  const rows: FanOutRow[] = [];
  for (const shape of shapes) {
    const numbers = shape.restMs === undefined ? [1, mostFlatOut] : [1, 100, most];
    for (const clients of numbers) {
      tell(`${shape.name}, ${count(clients)} clients …`);
      const [load, followers] = [startLoad(cores.load), startLoad(cores.load)];
      const gateway = await startGateway({ core: cores.server });
      try {
        await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
        rows.push(await measureRow({ load, followers, gateway }, pace, shape, clients));
      } finally {
        await Promise.all([load.stop(), followers.stop(), gateway.stop()]);
      }
    }
  }
  return rows;
}

interface Scene {
  readonly load: LoadProcess;
  readonly followers: LoadProcess;
  readonly gateway: GatewayProcess;
}

async function measureRow(scene: Scene, pace: Pace, shape: Shape, clients: number): Promise<FanOutRow> {
  const followed = new Map<LoadResult, FollowedResult>();
  const pair = async (warmupSecs: number): Promise<Pair> => {
    const base = await decide(scene, pace, shape, warmupSecs);
    await complete(scene);
    await scene.followers.run({ kind: 'follow', http: scene.gateway.http, clients });
    const tested = await decide(scene, pace, shape, warmupSecs);
    followed.set(tested, await allArrived(scene, tested.decisionsInAll * eventsPerDecision * clients));
    await scene.followers.run({ kind: 'unfollow', http: scene.gateway.http });
    await complete(scene);
    return { base, tested };
  };
  await pair(pace.warmupSecs);
  const { pairs, leftOut } = await calmPairs(pace.rounds, () => pair(pace.leadInSecs));
  const arrived = pairs.flatMap(({ tested }) => followed.get(tested) ?? []);
  const delays = new Histogram();
  for (const { counts } of arrived) delays.add(counts);
  const beside = figuresOf(pairs.map(({ tested }) => tested));
  const eventsPerSecond = beside.perSecond * eventsPerDecision * clients;
  const bytesPerEvent = sum(arrived.map(({ bytes }) => bytes)) / sum(arrived.map(({ events }) => events));
  const quantileRatio = (share: number) =>
    spreadOf(pairs.map(({ base, tested }) => quantileOf(tested, share) / quantileOf(base, share)));
  return {
    shape,
    clients,
    alone: figuresOf(pairs.map(({ base }) => base)),
    beside,
    eventsPerSecond,
    megabytesPerSecond: (eventsPerSecond * bytesPerEvent) / 2 ** 20,
    delayP50Micros: delays.quantile(0.5),
    delayP99Micros: delays.quantile(0.99),
    p50Ratio: quantileRatio(0.5),
    p99Ratio: quantileRatio(0.99),
    cpuRatio: cpuRatioOf(pairs),
    leftOut,
  };
}

/** A round is invalid if a client was closed or a single event did not arrive. */
async function allArrived({ followers, gateway }: Scene, events: number): Promise<FollowedResult> {
  const result = await followers.run({ kind: 'followed', http: gateway.http, events });
  if (result.events !== events || result.ended > 0) {
    throw new Error(`${result.events} of ${events} events arrived, and ${result.ended} streams were ended`);
  }
  return result;
}

async function decide({ load, gateway }: Scene, pace: Pace, shape: Shape, warmupSecs: number): Promise<LoadResult> {
  const { grpc, pid } = gateway;
  const job = { kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds: pace.seconds } as const;
  return checkRound(await load.run(job), shape.name);
}

async function complete({ load, gateway }: Scene): Promise<void> {
  await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
}

function quantileOf({ counts }: LoadResult, share: number): number {
  return new Histogram(counts).quantile(share);
}

export function fanOutTable(rows: readonly FanOutRow[]): string {
  const header = [
    'decisions',
    'a second',
    'clients',
    'events/s',
    'MB/s',
    'after, p50',
    'p99',
    'decision p99',
    'without clients',
    'p99 over without',
    'p50 over without',
    'CPU over without',
  ];
  const cells = rows.map((row) => [
    row.shape.name,
    count(row.beside.perSecond),
    count(row.clients),
    count(row.eventsPerSecond),
    fixed(row.megabytesPerSecond),
    duration(row.delayP50Micros),
    duration(row.delayP99Micros),
    duration(row.beside.p99Micros),
    duration(row.alone.p99Micros),
    ratio(row.p99Ratio),
    ratio(row.p50Ratio),
    ratio(row.cpuRatio),
  ]);
  return textTable(header, cells);
}

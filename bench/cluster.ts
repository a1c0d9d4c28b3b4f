import { readdirSync, readFileSync } from 'node:fs';
import { TestNats } from '../tests/harness/nats.ts';
import { TestPostgres } from '../tests/harness/postgres.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import { usageOf } from './process-usage.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

export interface ClusterRow {
  readonly name: string;
  readonly perSecond: number;
  /** CPU of the gateways that decide, of those that only follow, and of all processes of PostgreSQL, for each decision. */
  readonly gatewayCpuMicros: number;
  readonly followerCpuMicros: number;
  readonly postgresCpuMicros: number;
  /** CPU of the gateways over the embedded store, and over one gateway on PostgreSQL and NATS, round by round. */
  readonly overEmbedded: Spread;
  readonly overOne: Spread;
  /** CPU of PostgreSQL, and of those that follow, over that of the gateways of the same round. */
  readonly postgresOverGateways: Spread;
  readonly followersOverGateways: Spread;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

interface Round {
  readonly perSecond: number;
  readonly gatewayCpuMicros: number;
  readonly followerCpuMicros: number;
  readonly postgresCpuMicros: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

type Store = 'embedded' | 'alone' | 'shared' | 'crossed';

interface ClusterKind {
  readonly name: string;
  /** How many decide. */
  readonly gateways: number;
  readonly store: Store;
  /** How many more are there that nobody asks. */
  readonly followers?: number;
}

const embedded = 'embedded store';
const one = '1 gateway, NATS';
/** What a commit costs on each store, and what it costs to follow it. */
const stores: readonly ClusterKind[] = [
  { name: embedded, gateways: 1, store: 'embedded' },
  { name: 'PostgreSQL, alone', gateways: 1, store: 'alone' },
  { name: one, gateways: 1, store: 'shared' },
  { name: '1 gateway, 1 that follows', gateways: 1, store: 'shared', followers: 1 },
];
/** What gateways cost each other. */
const many: readonly ClusterKind[] = [
  { name: '2 gateways', gateways: 2, store: 'shared' },
  { name: '3 gateways', gateways: 3, store: 'shared' },
  { name: '4 gateways', gateways: 4, store: 'shared' },
  { name: '2, each with the agents of the other', gateways: 2, store: 'crossed' },
];

const measured: readonly { readonly shape: Shape; readonly clusters: readonly ClusterKind[] }[] = [
  { shape: { name: 'one caller', method: 'unary', connections: 1, inFlight: 1 }, clusters: stores },
  {
    shape: { name: '64 connections, 1 in flight on each', method: 'unary', connections: 64, inFlight: 1 },
    clusters: [...stores, ...many],
  },
  {
    shape: { name: '4 connections, 64 in flight on each', method: 'unary', connections: 4, inFlight: 64 },
    clusters: stores,
  },
  {
    shape: { name: 'batches of 100, 4 in flight', method: 'batch', connections: 1, inFlight: 4 },
    clusters: [...stores, ...many],
  },
];

/**
 * The first decisions of every gateway are for its JIT compiler. The more gateways share the cores, the less each of
 * them gets to do in a round, so rounds are measured once each of them has decided as many.
 */
const warmAfter = 30_000;

/**
 * The same load at each of one to four gateways on one PostgreSQL, beside one without NATS and the embedded store. All
 * of them stay up, and take their turn in every round, so that whatever disturbs the machine disturbs all of them.
 */
export async function measureCluster(
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<Readonly<Record<string, readonly ClusterRow[]>>> {
  const results: Record<string, readonly ClusterRow[]> = {};
  for (const { shape, clusters } of measured) {
    await using stack = new AsyncDisposableStack();
    const all: { readonly name: string; readonly cluster: Cluster; readonly rounds: Round[] }[] = [];
    for (const { name, ...kind } of clusters) {
      tell(`${shape.name}: warming up: ${name} …`);
      const cluster = await startCluster(cores, stack, kind);
      for (let decided = 0; decided < warmAfter; ) decided += (await runRound(cluster, pace, shape)).leastDecided;
      all.push({ name, cluster, rounds: [] });
    }
    for (let round = 0; round < pace.rounds; round++) {
      for (const { name, cluster, rounds } of all) {
        const { figures } = await runRound(cluster, pace, shape);
        rounds.push(figures);
        tell(`  round ${round + 1}: ${name}: ${figures.gatewayCpuMicros.toFixed(0)} µs of the gateways`);
      }
    }
    const roundsOf = (wanted: string) => all.find(({ name }) => name === wanted)?.rounds ?? [];
    results[shape.name] = all.map(({ name, rounds }) => rowOf(name, rounds, roundsOf(embedded), roundsOf(one)));
  }
  return results;
}

function rowOf(
  name: string,
  rounds: readonly Round[],
  onEmbedded: readonly Round[],
  ofOne: readonly Round[],
): ClusterRow {
  const of = (member: keyof Round) => spreadOf(rounds.map((each) => each[member])).median;
  const over = (base: readonly Round[]) =>
    spreadOf(rounds.map((each, nth) => each.gatewayCpuMicros / (base[nth]?.gatewayCpuMicros ?? Number.NaN)));
  const overGateways = (member: keyof Round) => spreadOf(rounds.map((each) => each[member] / each.gatewayCpuMicros));
  return {
    name,
    perSecond: of('perSecond'),
    gatewayCpuMicros: of('gatewayCpuMicros'),
    followerCpuMicros: of('followerCpuMicros'),
    postgresCpuMicros: of('postgresCpuMicros'),
    overEmbedded: over(onEmbedded),
    overOne: over(ofOne),
    postgresOverGateways: overGateways('postgresCpuMicros'),
    followersOverGateways: overGateways('followerCpuMicros'),
    p50Micros: of('p50Micros'),
    p99Micros: of('p99Micros'),
  };
}

interface Cluster {
  readonly postgres: number | undefined;
  readonly lanes: readonly { readonly gateway: GatewayProcess; readonly target: GatewayProcess; readonly load: Load }[];
  readonly followers: readonly GatewayProcess[];
}

type Load = ReturnType<typeof startLoad>;

async function startCluster(
  cores: Cores,
  stack: AsyncDisposableStack,
  { gateways, store, followers = 0 }: Omit<ClusterKind, 'name'>,
): Promise<Cluster> {
  const postgres = store === 'embedded' ? undefined : stack.use(await TestPostgres.start());
  const nats = store === 'shared' || store === 'crossed' ? stack.use(await TestNats.start()) : undefined;
  const database = await postgres?.createDatabase();
  const env = {
    ...(database === undefined ? {} : { SVC_DATABASE_URL: database.url }),
    ...(nats === undefined ? {} : { SVC_NATS_URL: nats.url() }),
  };
  const start = async () => {
    const gateway = await startGateway({ core: undefined, env });
    stack.defer(() => gateway.stop());
    return gateway;
  };
  const started = await Promise.all(
    Array.from({ length: gateways }, async (_, nth) => {
      const gateway = await start();
      const load = startLoad(cores.load);
      stack.defer(() => load.stop());
      await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10, orgPrefix: `fleet-${nth}` });
      return { gateway, load };
    }),
  );
  const shift = store === 'crossed' ? 1 : 0;
  const lanes = started.map(({ gateway, load }, nth) => {
    const target = started[(nth + shift) % started.length]?.gateway ?? gateway;
    return { gateway, target, load };
  });
  return { postgres: postgres?.pid, lanes, followers: await Promise.all(Array.from({ length: followers }, start)) };
}

async function runRound(
  { postgres, lanes, followers }: Cluster,
  pace: Pace,
  shape: Shape,
): Promise<{ readonly figures: Round; readonly leastDecided: number }> {
  const cpu = () => ({
    postgres: postgresCpu(postgres),
    gateways: cpuOf(lanes.map(({ gateway }) => gateway)),
    followers: cpuOf(followers),
  });
  const before = cpu();
  const results = await Promise.all(
    lanes.map(({ gateway, target, load }) =>
      load.run({
        kind: 'load',
        fleet: gateway.grpc,
        target: target.grpc,
        pid: target.pid,
        shape,
        seconds: pace.seconds,
        warmupSecs: pace.leadInSecs,
      }),
    ),
  );
  const failed = sum(results.map((result) => result.failed));
  if (failed > 0) throw new Error(`${failed} calls failed`);
  const after = cpu();
  const decisions = sum(results.map(({ decisionsInAll }) => decisionsInAll));
  for (const { gateway, load } of lanes) await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
  const figures = {
    perSecond: sum(results.map((each) => each.decisions / each.seconds)),
    gatewayCpuMicros: (after.gateways - before.gateways) / decisions,
    followerCpuMicros: (after.followers - before.followers) / decisions,
    postgresCpuMicros: (after.postgres - before.postgres) / decisions,
    ...latencies(results),
  };
  return { figures, leastDecided: Math.min(...results.map(({ decisionsInAll }) => decisionsInAll)) };
}

function latencies(results: readonly LoadResult[]): Pick<ClusterRow, 'p50Micros' | 'p99Micros'> {
  const histogram = new Histogram();
  for (const { counts } of results) histogram.add(counts);
  return { p50Micros: histogram.quantile(0.5), p99Micros: histogram.quantile(0.99) };
}

function cpuOf(gateways: readonly GatewayProcess[]): number {
  return sum(gateways.map(({ pid }) => usageOf(pid).cpuMicros ?? 0));
}

/** The server and its processes. A connection that ends takes its time with it, to its parent's account. */
function postgresCpu(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return [pid, ...children.map(Number)].reduce((sum, each) => sum + (usageOf(each).cpuMicros ?? 0), 0);
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

export function clusterTable(results: Readonly<Record<string, readonly ClusterRow[]>>): string {
  const header = [
    ...['', 'decisions/s', 'gateways µs', 'over embedded', 'over 1 gateway'],
    ...['PostgreSQL µs', 'over gateways', 'follower µs', 'over gateway', 'p50', 'p99'],
  ];
  return Object.entries(results)
    .map(([shape, rows]) => {
      const lines = rows.map((row) => [
        row.name,
        count(row.perSecond),
        fixed(row.gatewayCpuMicros, 0),
        ratio(row.overEmbedded),
        ratio(row.overOne),
        ...(row.postgresCpuMicros > 0 ? [fixed(row.postgresCpuMicros, 0), ratio(row.postgresOverGateways)] : ['', '']),
        ...(row.followerCpuMicros > 0 ? [fixed(row.followerCpuMicros, 1), ratio(row.followersOverGateways)] : ['', '']),
        duration(row.p50Micros),
        duration(row.p99Micros),
      ]);
      return `Each gateway: ${shape}\n\n${textTable(header, lines)}`;
    })
    .join('\n\n');
}

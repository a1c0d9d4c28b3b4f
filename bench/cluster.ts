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
import { spreadOf, sum } from './statistics.ts';
import { count, duration, fixed, textTable } from './table.ts';

export interface ClusterRow {
  readonly name: string;
  readonly perSecond: number;
  /** CPU of all gateways, and of all processes of PostgreSQL, for each decision. */
  readonly gatewayCpuMicros: number;
  readonly postgresCpuMicros: number;
  /** The same over the figures of one gateway in the same round: the median of all rounds. */
  readonly gatewayRatio: number;
  readonly postgresRatio: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

type Round = Omit<ClusterRow, 'name' | 'gatewayRatio' | 'postgresRatio'>;

const shapes: readonly Shape[] = [
  { name: '64 connections each', method: 'unary', connections: 64, inFlight: 1 },
  { name: 'batches of 100', method: 'batch', connections: 1, inFlight: 4 },
];

type Store = 'embedded' | 'alone' | 'shared' | 'crossed';

const one = '1 gateway, NATS';
const clusters: readonly { readonly name: string; readonly gateways: number; readonly store: Store }[] = [
  { name: 'embedded store', gateways: 1, store: 'embedded' },
  { name: 'PostgreSQL, alone', gateways: 1, store: 'alone' },
  { name: one, gateways: 1, store: 'shared' },
  { name: '2 gateways', gateways: 2, store: 'shared' },
  { name: '3 gateways', gateways: 3, store: 'shared' },
  { name: '4 gateways', gateways: 4, store: 'shared' },
  { name: '2, each with the agents of the other', gateways: 2, store: 'crossed' },
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
  for (const shape of shapes) {
    await using stack = new AsyncDisposableStack();
    const all: { readonly name: string; readonly cluster: Cluster; readonly rounds: Round[] }[] = [];
    for (const { name, gateways, store } of clusters) {
      tell(`${shape.name}: warming up: ${name} …`);
      const cluster = await startCluster(cores, stack, gateways, store);
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
    const base = all.find(({ name }) => name === one)?.rounds ?? [];
    results[shape.name] = all.map(({ name, rounds }) => rowOf(name, rounds, base));
  }
  return results;
}

function rowOf(name: string, rounds: readonly Round[], base: readonly Round[]): ClusterRow {
  const of = (member: keyof Round) => spreadOf(rounds.map((each) => each[member])).median;
  const over = (member: keyof Round) =>
    spreadOf(rounds.map((each, nth) => each[member] / (base[nth]?.[member] ?? Number.NaN))).median;
  return {
    name,
    perSecond: of('perSecond'),
    gatewayCpuMicros: of('gatewayCpuMicros'),
    postgresCpuMicros: of('postgresCpuMicros'),
    gatewayRatio: over('gatewayCpuMicros'),
    postgresRatio: over('postgresCpuMicros'),
    p50Micros: of('p50Micros'),
    p99Micros: of('p99Micros'),
  };
}

interface Cluster {
  readonly postgres: number | undefined;
  readonly lanes: readonly { readonly gateway: GatewayProcess; readonly target: GatewayProcess; readonly load: Load }[];
}

type Load = ReturnType<typeof startLoad>;

async function startCluster(
  cores: Cores,
  stack: AsyncDisposableStack,
  gateways: number,
  store: Store,
): Promise<Cluster> {
  const postgres = store === 'embedded' ? undefined : stack.use(await TestPostgres.start());
  const nats = store === 'shared' || store === 'crossed' ? stack.use(await TestNats.start()) : undefined;
  const database = await postgres?.createDatabase();
  const env = {
    ...(database === undefined ? {} : { SVC_DATABASE_URL: database.url }),
    ...(nats === undefined ? {} : { SVC_NATS_URL: nats.url() }),
  };
  const started = await Promise.all(
    Array.from({ length: gateways }, async (_, nth) => {
      const gateway = await startGateway({ core: undefined, env });
      stack.defer(() => gateway.stop());
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
  return { postgres: postgres?.pid, lanes };
}

async function runRound(
  { postgres, lanes }: Cluster,
  pace: Pace,
  shape: Shape,
): Promise<{ readonly figures: Round; readonly leastDecided: number }> {
  const before = { postgres: postgresCpu(postgres), gateways: gatewaysCpu(lanes) };
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
  const after = { postgres: postgresCpu(postgres), gateways: gatewaysCpu(lanes) };
  const decisions = sum(results.map(({ decisionsInAll }) => decisionsInAll));
  for (const { gateway, load } of lanes) await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
  const figures = {
    perSecond: sum(results.map((each) => each.decisions / each.seconds)),
    gatewayCpuMicros: (after.gateways - before.gateways) / decisions,
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

function gatewaysCpu(lanes: readonly { readonly gateway: GatewayProcess }[]): number {
  return lanes.reduce((sum, { gateway }) => sum + (usageOf(gateway.pid).cpuMicros ?? 0), 0);
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
  return Object.entries(results)
    .map(([shape, rows]) => {
      const header = ['', 'decisions/s', 'gateways µs', 'over 1', 'PostgreSQL µs', 'over 1', 'p50', 'p99'];
      const lines = rows.map((row) => [
        row.name,
        count(row.perSecond),
        fixed(row.gatewayCpuMicros, 0),
        `${fixed(row.gatewayRatio, 2)}x`,
        fixed(row.postgresCpuMicros, 0),
        `${fixed(row.postgresRatio, 2)}x`,
        duration(row.p50Micros),
        duration(row.p99Micros),
      ]);
      return `${shape}\n\n${textTable(header, lines)}`;
    })
    .join('\n\n');
}

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
import { spreadOf } from './statistics.ts';
import { count, duration, fixed, textTable } from './table.ts';

export interface ClusterRow {
  readonly name: string;
  readonly perSecond: number;
  /** CPU of all gateways, and of all processes of PostgreSQL, for each decision. */
  readonly gatewayCpuMicros: number;
  readonly postgresCpuMicros: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

const shapes: readonly Shape[] = [
  { name: '64 connections each', method: 'unary', connections: 64, inFlight: 1 },
  { name: 'batches of 100', method: 'batch', connections: 1, inFlight: 4 },
];

/**
 * The first decisions of every gateway are for its JIT compiler. The more gateways share the cores, the less each of
 * them gets to do in a round, so rounds are measured once each of them has decided as many.
 */
const warmAfter = 50_000;

/** The same load at each of one to four gateways on one PostgreSQL, beside one without NATS and the embedded store. */
export async function measureCluster(
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<Readonly<Record<string, readonly ClusterRow[]>>> {
  const results: Record<string, ClusterRow[]> = {};
  for (const shape of shapes) {
    const rows: ClusterRow[] = [];
    for (const [name, gateways, store] of [
      ['embedded store', 1, 'embedded'],
      ['PostgreSQL, alone', 1, 'alone'],
      ['1 gateway, NATS', 1, 'shared'],
      ['2 gateways', 2, 'shared'],
      ['3 gateways', 3, 'shared'],
      ['4 gateways', 4, 'shared'],
      ['2, each with the agents of the other', 2, 'crossed'],
    ] as const) {
      tell(`${shape.name}: ${name} …`);
      const row = { name, ...(await measure(cores, pace, shape, gateways, store)) };
      const [ours, postgres] = [row.gatewayCpuMicros, row.postgresCpuMicros].map((micros) => micros.toFixed(0));
      tell(`  ${ours} µs of the gateways and ${postgres} µs of PostgreSQL for each decision`);
      rows.push(row);
    }
    results[shape.name] = rows;
  }
  return results;
}

async function measure(
  cores: Cores,
  pace: Pace,
  shape: Shape,
  gateways: number,
  store: 'embedded' | 'alone' | 'shared' | 'crossed',
): Promise<Omit<ClusterRow, 'name'>> {
  await using stack = new AsyncDisposableStack();
  const postgres = store === 'embedded' ? undefined : stack.use(await TestPostgres.start());
  const nats = store === 'shared' || store === 'crossed' ? stack.use(await TestNats.start()) : undefined;
  const database = await postgres?.createDatabase();
  const env = {
    ...(database === undefined ? {} : { SVC_DATABASE_URL: database.url }),
    ...(nats === undefined ? {} : { SVC_NATS_URL: nats.url() }),
  };
  const lanes = await Promise.all(
    Array.from({ length: gateways }, async (_, nth) => {
      const gateway = await startGateway({ core: undefined, env });
      stack.defer(() => gateway.stop());
      const load = startLoad(cores.load);
      stack.defer(() => load.stop());
      await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10, orgPrefix: `fleet-${nth}` });
      return { gateway, load };
    }),
  );
  const rounds: Omit<ClusterRow, 'name'>[] = [];
  let warmedBy = 0;
  while (rounds.length < pace.rounds) {
    const before = { postgres: postgresCpu(postgres?.pid), gateways: gatewaysCpu(lanes) };
    const results = await Promise.all(
      lanes.map(({ gateway, load }, nth) => {
        const target = store === 'crossed' ? (lanes[(nth + 1) % lanes.length]?.gateway ?? gateway) : gateway;
        return load.run({
          kind: 'load',
          fleet: gateway.grpc,
          target: target.grpc,
          pid: target.pid,
          shape,
          seconds: pace.seconds,
          warmupSecs: pace.leadInSecs,
        });
      }),
    );
    const failed = results.reduce((sum, result) => sum + result.failed, 0);
    if (failed > 0) throw new Error(`${failed} calls failed`);
    const after = { postgres: postgresCpu(postgres?.pid), gateways: gatewaysCpu(lanes) };
    const decisions = results.reduce((sum, { decisionsInAll }) => sum + decisionsInAll, 0);
    for (const { gateway, load } of lanes) await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
    const isWarm = warmedBy >= warmAfter;
    warmedBy += Math.min(...results.map(({ decisionsInAll }) => decisionsInAll));
    if (!isWarm) continue;
    rounds.push({
      perSecond: results.reduce((sum, each) => sum + each.decisions / each.seconds, 0),
      gatewayCpuMicros: (after.gateways - before.gateways) / decisions,
      postgresCpuMicros: (after.postgres - before.postgres) / decisions,
      ...latencies(results),
    });
  }
  const of = (member: keyof Omit<ClusterRow, 'name'>) => spreadOf(rounds.map((each) => each[member])).median;
  return {
    perSecond: of('perSecond'),
    gatewayCpuMicros: of('gatewayCpuMicros'),
    postgresCpuMicros: of('postgresCpuMicros'),
    p50Micros: of('p50Micros'),
    p99Micros: of('p99Micros'),
  };
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
      const base = rows.find(({ name }) => name.startsWith('1 gateway'));
      const ratio = (value: number, of: number | undefined) => `${fixed(value / (of ?? Number.NaN), 2)}x`;
      const header = ['', 'decisions/s', 'gateways µs', 'over 1', 'PostgreSQL µs', 'over 1', 'p50', 'p99'];
      const lines = rows.map((row) => [
        row.name,
        count(row.perSecond),
        fixed(row.gatewayCpuMicros, 0),
        ratio(row.gatewayCpuMicros, base?.gatewayCpuMicros),
        fixed(row.postgresCpuMicros, 0),
        ratio(row.postgresCpuMicros, base?.postgresCpuMicros),
        duration(row.p50Micros),
        duration(row.p99Micros),
      ]);
      return `${shape}\n\n${textTable(header, lines)}`;
    })
    .join('\n\n');
}

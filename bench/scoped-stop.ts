import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import { orderControl } from './operator.ts';
import type { Pace } from './options.ts';
import { checkRound, perSecondOf } from './rounds.ts';
import { count, duration, fixed, textTable } from './table.ts';

export interface StopRow {
  readonly shape: Shape;
  readonly ops: number;
  readonly stopSecs: number;
  /** The share of the measured time during which the stop ran. */
  readonly overlap: number;
  /** The other tenant's decisions before the stop, and during it. */
  readonly before: Decisions;
  readonly during: Decisions;
}

interface Decisions {
  readonly perSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly p999Micros: number;
  readonly mostMicros: number;
  readonly othersCores: number;
}

const shapes: readonly Shape[] = [
  { name: '1 call', method: 'unary', connections: 1, inFlight: 1 },
  { name: '16 connections', method: 'unary', connections: 16, inFlight: 1 },
];

/** Nobody listens, so nothing is acknowledged. This benchmark is not about overdue controls. */
const env = { SVC_CONTROL_ACK_SECS: '3600' };

/** Stops all operations of one tenant in one call, while another tenant's agents go on asking. */
export async function measureScopedStop(
  cores: Cores,
  pace: Pace,
  ops: number,
  tell: (line: string) => void,
): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  for (const shape of shapes) {
    tell(`${count(ops)} operations stopped beside ${shape.name} …`);
    const [stopped, others] = [startLoad(cores.load), startLoad(cores.load)];
    const gateway = await startGateway({ core: cores.server, env });
    try {
      await stopped.run({ kind: 'register', fleet: gateway.grpc, agents: 1000, orgs: 1, orgPrefix: 'stopped' });
      await others.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
      await stopped.run({ kind: 'fill', fleet: gateway.grpc, ops });
      rows.push(await measureRow(others, gateway, pace, shape, ops));
    } finally {
      await Promise.all([stopped.stop(), others.stop(), gateway.stop()]);
    }
  }
  return rows;
}

async function measureRow(
  others: LoadProcess,
  gateway: GatewayProcess,
  pace: Pace,
  shape: Shape,
  ops: number,
): Promise<StopRow> {
  const before = await decide(others, gateway, shape, pace.warmupSecs, pace.seconds);
  const startedAt = performance.now();
  const order = { action: 'terminate', scope: { org_id: 'stopped-0' }, reason: 'bench' } as const;
  const [{ changed, micros }, during] = await Promise.all([
    orderControl(gateway.http, order),
    decide(others, gateway, shape, pace.leadInSecs, pace.seconds),
  ]);
  if (changed !== ops) throw new Error(`${changed} of ${ops} operations were stopped`);
  const stopSecs = micros / 1e6;
  const measuredFrom = (during.startedAt - startedAt) / 1000 + pace.leadInSecs;
  const overlap = Math.max(0, Math.min(1, (stopSecs - measuredFrom) / pace.seconds));
  return { shape, ops, stopSecs, overlap, before: decisionsOf(before.result), during: decisionsOf(during.result) };
}

async function decide(
  load: LoadProcess,
  { grpc, pid }: GatewayProcess,
  shape: Shape,
  warmupSecs: number,
  seconds: number,
): Promise<{ readonly startedAt: number; readonly result: LoadResult }> {
  const startedAt = performance.now();
  const job = { kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds } as const;
  const result = checkRound(await load.run(job), shape.name);
  await load.run({ kind: 'complete', fleet: grpc, pid });
  return { startedAt, result };
}

function decisionsOf(result: LoadResult): Decisions {
  const histogram = new Histogram(result.counts);
  return {
    perSecond: perSecondOf(result),
    p50Micros: histogram.quantile(0.5),
    p99Micros: histogram.quantile(0.99),
    p999Micros: histogram.quantile(0.999),
    mostMicros: histogram.quantile(1),
    othersCores: result.othersCores,
  };
}

export function scopedStopTable(rows: readonly StopRow[]): string {
  const over = (during: number, before: number) => `${fixed(during / before, 2)}×`;
  const header = ['others', '', 'decisions/s', 'p50', 'p99', 'p99.9', 'longest'];
  const cells = (name: string, when: string, part: Decisions) => [
    name,
    when,
    count(part.perSecond),
    duration(part.p50Micros),
    duration(part.p99Micros),
    duration(part.p999Micros),
    duration(part.mostMicros),
  ];
  const body = rows.flatMap(({ shape, before, during }, index) => [
    ...(index === 0 ? [] : [null]),
    cells(shape.name, 'before', before),
    cells('', 'during the stop', during),
    [
      '',
      'during over before',
      over(during.perSecond, before.perSecond),
      over(during.p50Micros, before.p50Micros),
      over(during.p99Micros, before.p99Micros),
      over(during.p999Micros, before.p999Micros),
      over(during.mostMicros, before.mostMicros),
    ],
  ]);
  const stops = rows.map(
    ({ shape, ops, stopSecs, overlap, before, during }) =>
      `Beside ${shape.name}, stopping ${count(ops)} took ${fixed(stopSecs)} s and ${fixed(overlap * 100, 0)} % of the measured time; other processes took up to ${fixed(Math.max(before.othersCores, during.othersCores), 2)} cores.`,
  );
  return [textTable(header, body), '', ...stops].join('\n');
}

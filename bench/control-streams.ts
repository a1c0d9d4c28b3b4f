import { askProbe } from './ask-probe.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { Shape } from './load-protocol.ts';
import { orderControl, untilMetric } from './operator.ts';
import type { Pace } from './options.ts';
import type { ProbeMemory } from './probe.ts';
import { checkRound, cpuPerDecisionOf } from './rounds.ts';
import { count, duration, fixed, textTable } from './table.ts';

export interface StreamsRow {
  readonly streams: number;
  readonly connections: number;
  /** The time until all streams were open. */
  readonly openedSecs: number;
  /** The gateway's memory per stream. */
  readonly rssPerStream: number;
  readonly heapPerStream: number;
  /** From the stop order until half of the streams, and all of them, had their message. */
  readonly heardHalfMicros: number;
  readonly heardAllMicros: number;
  /** The time until the order was answered. */
  readonly answeredMicros: number;
  /** Decisions before the streams were opened, beside them, and after they were closed. */
  readonly before: Decisions;
  readonly beside: Decisions;
  readonly after: Decisions;
}

interface Decisions {
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** The gateway's CPU time per decision. It shows what latencies cannot when other processes disturb them. */
  readonly cpuMicros: number;
  readonly othersCores: number;
}

const shape: Shape = { name: '16 connections', method: 'unary', connections: 16, inFlight: 1 };
const longestRoundSecs = 1.5;
/** Before the first round that counts, so that the code is as warm as in the later ones. */
const warmupRounds = 4;

/** Nothing is acknowledged, so nothing may become overdue; ended operations soon leave memory. */
const env = { SVC_CONTROL_ACK_SECS: '3600', SVC_OPS_TTL_SECS: '1', SVC_OPS_SWEEP_TICK_SECS: '1' };

/** The memory of idle control streams, over many connections or all over one, and their cost for decisions. */
export async function measureControlStreams(
  cores: Cores,
  pace: Pace,
  streams: number,
  tell: (line: string) => void,
): Promise<StreamsRow[]> {
  const rows: StreamsRow[] = [];
  for (const connections of [100, 1]) {
    tell(`${count(streams)} streams over ${connections === 1 ? 'one connection' : `${connections} connections`} …`);
    // One process runs the agents, the decisions and the listeners: their messages cost it next to nothing.
    const load = startLoad(cores.load);
    const gateway = await startGateway({ core: cores.server, env, probe: true });
    try {
      rows.push(await measureRow({ load, gateway }, pace, streams, connections));
    } finally {
      await Promise.all([load.stop(), gateway.stop()]);
    }
  }
  return rows;
}

interface Scene {
  readonly load: LoadProcess;
  readonly gateway: GatewayProcess;
}

async function measureRow(scene: Scene, pace: Pace, streams: number, connections: number): Promise<StreamsRow> {
  const { load, gateway } = scene;
  const fleet = gateway.grpc;
  await load.run({ kind: 'register', fleet, agents: streams, orgs: 10 });
  for (let round = 0; round < warmupRounds; round++) await decide(scene, pace, pace.leadInSecs);
  const before = await decide(scene, pace, pace.leadInSecs);

  await untilMetric(gateway.http, 'reeve_ops', 0);
  const empty = await askProbe<ProbeMemory>(gateway, 'memory');
  const openingAt = performance.now();
  await load.run({ kind: 'listen', fleet, connections });
  await untilMetric(gateway.http, 'reeve_control_streams', streams);
  const openedSecs = (performance.now() - openingAt) / 1000;
  const full = await askProbe<ProbeMemory>(gateway, 'memory');
  const beside = await decide(scene, pace, pace.leadInSecs);

  await load.run({ kind: 'fill', fleet, ops: streams });
  const since = performance.timeOrigin + performance.now();
  const order = { action: 'terminate', scope: { all: true }, reason: 'bench' } as const;
  const [{ changed, micros: answeredMicros }, heard] = await Promise.all([
    orderControl(gateway.http, order),
    load.run({ kind: 'hear', fleet, messages: streams, since }),
  ]);
  if (changed !== streams || heard.failed > 0) throw new Error(`${changed} stopped, ${heard.failed} streams lost`);
  const heardAfter = new Histogram(heard.counts);
  await load.run({ kind: 'hang-up', fleet });
  await untilMetric(gateway.http, 'reeve_control_streams', 0);
  const after = await decide(scene, pace, pace.leadInSecs);
  return {
    streams,
    connections,
    openedSecs,
    rssPerStream: (full.rss - empty.rss) / streams,
    heapPerStream: (full.heapUsed - empty.heapUsed) / streams,
    heardHalfMicros: heardAfter.quantile(0.5),
    heardAllMicros: heardAfter.quantile(1),
    answeredMicros,
    before,
    beside,
    after,
  };
}

async function decide({ load, gateway }: Scene, pace: Pace, warmupSecs: number): Promise<Decisions> {
  const { grpc, pid } = gateway;
  const seconds = Math.min(pace.seconds, longestRoundSecs);
  const job = { kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds } as const;
  const result = checkRound(await load.run(job), shape.name);
  await load.run({ kind: 'complete', fleet: grpc, pid });
  const histogram = new Histogram(result.counts);
  return {
    p50Micros: histogram.quantile(0.5),
    p99Micros: histogram.quantile(0.99),
    cpuMicros: cpuPerDecisionOf(result),
    othersCores: result.othersCores,
  };
}

export function controlStreamsTable(rows: readonly StreamsRow[]): string {
  const kilobytes = (bytes: number) => `${fixed(bytes / 1024)} kB`;
  const over = (some: number, other: number) => `${fixed(some / other, 2)}×`;
  const streams = textTable(
    ['streams', 'connections', 'all open after', 'RSS each', 'heap each', 'half told', 'all told', 'answered'],
    rows.map((row) => [
      count(row.streams),
      count(row.connections),
      `${fixed(row.openedSecs)} s`,
      kilobytes(row.rssPerStream),
      kilobytes(row.heapPerStream),
      duration(row.heardHalfMicros),
      duration(row.heardAllMicros),
      duration(row.answeredMicros),
    ]),
  );
  const decisions = textTable(
    ['streams over', 'decisions', 'p50', 'p99', 'CPU each', 'p50 over before', 'p99 over before', 'CPU over before'],
    rows.flatMap(({ connections, before, beside, after }, index) => [
      ...(index === 0 ? [] : [null]),
      ...Object.entries({ before, beside, after }).map(([when, part]) => [
        when === 'before' ? `${count(connections)} connection${connections === 1 ? '' : 's'}` : '',
        when,
        duration(part.p50Micros),
        duration(part.p99Micros),
        duration(part.cpuMicros),
        over(part.p50Micros, before.p50Micros),
        over(part.p99Micros, before.p99Micros),
        over(part.cpuMicros, before.cpuMicros),
      ]),
    ]),
  );
  const others = Math.max(
    ...rows.flatMap((row) => [row.before, row.beside, row.after].map((part) => part.othersCores)),
  );
  return [
    streams,
    '',
    decisions,
    '',
    `Others, the host of a virtual machine among them, took up to ${fixed(others, 2)} cores.`,
  ].join('\n');
}

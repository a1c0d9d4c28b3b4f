import { fileURLToPath } from 'node:url';
import type { Pair } from './calm-rounds.ts';
import { calmPairs } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { Figures } from './rounds.ts';
import { checkRound, cpuRatioOf, figuresOf, perSecondOf, quietCpuRatioOf } from './rounds.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';

export interface ThroughputRow {
  readonly shape: Shape;
  readonly echo: Figures;
  readonly gateway: Figures & { readonly auditPerSecond: number };
  /** Gateway over echo, round by round. */
  readonly throughputRatio: Spread;
  readonly cpuRatio: Spread;
  /** The ratio for the cheapest round of each, which others disturbed least. */
  readonly quietCpuRatio: number;
  /** Rounds that were not counted because others disturbed them. */
  readonly leftOut: number;
}

export const shapes: readonly Shape[] = [
  { name: 'unary, 1 call', method: 'unary', connections: 1, inFlight: 1 },
  { name: 'unary, 16 connections', method: 'unary', connections: 16, inFlight: 1 },
  { name: 'unary, 64 connections', method: 'unary', connections: 64, inFlight: 1 },
  { name: 'unary, 1 connection, 64 in flight', method: 'unary', connections: 1, inFlight: 64 },
  { name: 'BatchCheck of 100', method: 'batch', connections: 1, inFlight: 4 },
  { name: 'CheckStream, 256 in flight', method: 'stream', connections: 1, inFlight: 256 },
];

/** Every shape runs on a fresh gateway and a fresh echo, so that none inherits the memory of another. */
export async function measureThroughput(
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<ThroughputRow[]> {
  const rows: ThroughputRow[] = [];
  for (const shape of shapes) {
    tell(`${shape.name} …`);
    rows.push(await measureShape(cores, pace, shape));
  }
  return rows;
}

async function measureShape(cores: Cores, pace: Pace, shape: Shape): Promise<ThroughputRow> {
  const load = startLoad(cores.load);
  const gateway = await startGateway({ core: cores.server });
  await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
  const echo = await startEcho(cores, load, gateway);
  try {
    await round(load, pace, shape, gateway, echo, pace.warmupSecs);
    const { pairs, leftOut } = await calmPairs(pace.rounds, () =>
      round(load, pace, shape, gateway, echo, pace.leadInSecs),
    );
    return { shape, leftOut, ...compared(pairs) };
  } finally {
    await Promise.all([load.stop(), gateway.stop(), echo.stop()]);
  }
}

function compared(pairs: readonly Pair[]) {
  const gateway = figuresOf(pairs.map((pair) => pair.tested));
  return {
    echo: figuresOf(pairs.map((pair) => pair.base)),
    // Each decision writes one entry; `round` has counted them.
    gateway: { ...gateway, auditPerSecond: gateway.perSecond },
    throughputRatio: spreadOf(pairs.map(({ base, tested }) => perSecondOf(tested) / perSecondOf(base))),
    cpuRatio: cpuRatioOf(pairs),
    quietCpuRatio: quietCpuRatioOf(pairs),
  };
}

/** The echo, then the gateway: a disturbance that lasts longer than a moment affects both. */
async function round(
  load: LoadProcess,
  pace: Pace,
  shape: Shape,
  gateway: GatewayProcess,
  echo: ServerProcess,
  warmupSecs: number,
): Promise<Pair> {
  const common = { kind: 'load', fleet: gateway.grpc, shape, seconds: pace.seconds, warmupSecs } as const;
  const echoed = await load.run({ ...common, target: echo.grpc, pid: echo.pid });
  const entriesBefore = gateway.count('audit');
  const governed = await load.run({ ...common, target: gateway.grpc, pid: gateway.pid });
  const entries = gateway.count('audit') - entriesBefore;
  if (entries !== governed.decisionsInAll) {
    throw new Error(`${shape.name}: ${governed.decisionsInAll} decisions, but ${entries} audit entries`);
  }
  const { failed } = await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
  if (failed > 0) throw new Error(`${shape.name}: ${failed} operations could not be completed`);
  return { base: checkRound(echoed, `echo of ${shape.name}`), tested: checkRound(governed, shape.name) };
}

/** The echo repeats the gateway's answer, so both have the same size. */
export async function startEcho(
  cores: Cores,
  load: LoadProcess,
  gateway: GatewayProcess,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const unary = await load.run({ kind: 'sample', fleet: gateway.grpc, method: 'unary' });
  const batch = await load.run({ kind: 'sample', fleet: gateway.grpc, method: 'batch' });
  const program = fileURLToPath(new URL('echo-server.ts', import.meta.url));
  return startServer(cores.server, [process.execPath, program, unary.answer, batch.answer], env);
}

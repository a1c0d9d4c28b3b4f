import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import type { Pace } from './options.ts';
import { measureSdkStart } from './sdk-start.ts';
import type { SdkStart } from './sdk-start.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

/** How a check is asked. The first is the base of the comparison. */
const ways = ['bare call', 'bare call by grpc-js', 'agent.check'] as const;
export type Way = (typeof ways)[number];

export interface CallerJob {
  /** Calls in flight. */
  readonly lanes: number;
  readonly seconds: number;
}

export interface CallerResult {
  /** CPU of the caller's process for one call. */
  readonly cpuMicros: number;
  readonly wallMicros: number;
  readonly perSecond: number;
}

export interface SdkCostRow {
  readonly lanes: number;
  readonly way: Way;
  readonly cpuMicros: Spread;
  readonly wallMicros: Spread;
  readonly perSecond: Spread;
  /** CPU over that of the bare call of the same round. */
  readonly overBare: Spread;
}

export interface SdkCostResults {
  readonly rows: readonly SdkCostRow[];
  readonly start: SdkStart;
}

const shapes = [1, 64] as const;
const promisedRatio = 2;

/** What a check costs the process of the agent, beside the bare call, round by round. */
export async function measureSdkCost(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<SdkCostResults> {
  const server = await startServer(cores.server, [process.execPath, fileOf('./check-echo.ts')]);
  const callers = await Promise.all(
    ways.map((way) => startServer(cores.load, [process.execPath, fileOf('./sdk-caller.ts'), way, server.grpc])),
  );
  const rows: SdkCostRow[] = [];
  for (const lanes of shapes) {
    tell(`${lanes} in flight …`);
    for (const caller of callers) await run(caller, { lanes, seconds: pace.warmupSecs });
    const rounds: CallerResult[][] = [];
    for (let round = 0; round < pace.rounds; round++) {
      const results: CallerResult[] = [];
      for (const caller of callers) results.push(await run(caller, { lanes, seconds: pace.seconds }));
      rounds.push(results);
    }
    for (const [at, way] of ways.entries()) {
      const figure = (of: (result: CallerResult, bare: CallerResult) => number) =>
        spreadOf(rounds.map((results) => of(results[at] ?? none, results[0] ?? none)));
      rows.push({
        lanes,
        way,
        cpuMicros: figure(({ cpuMicros }) => cpuMicros),
        wallMicros: figure(({ wallMicros }) => wallMicros),
        perSecond: figure(({ perSecond }) => perSecond),
        overBare: figure(({ cpuMicros }, bare) => cpuMicros / bare.cpuMicros),
      });
    }
  }
  for (const caller of callers) caller.child.disconnect();
  await server.stop();
  tell('loading …');
  return { rows, start: await measureSdkStart(pace.rounds * 5) };
}

const none: CallerResult = { cpuMicros: Number.NaN, wallMicros: Number.NaN, perSecond: Number.NaN };

async function run({ child }: ServerProcess, job: CallerJob): Promise<CallerResult> {
  child.send(job);
  const result = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)]);
  if (result === undefined) throw new Error('a caller has failed');
  return result[0] as CallerResult;
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

export function sdkCostTable({ rows, start }: SdkCostResults): string {
  const body = rows.map(({ lanes, way, cpuMicros, wallMicros, perSecond, overBare }) => [
    `${lanes} in flight: ${way}`,
    `${fixed(cpuMicros.median)} µs`,
    `${fixed(cpuMicros.least)} µs`,
    duration(wallMicros.median),
    count(perSecond.median),
    ratio(overBare),
    way === 'agent.check' ? kept(overBare) : '',
  ]);
  const calls = textTable(
    ['CPU of the caller', 'median', 'least', 'latency', 'calls/s', 'over the bare call', `at most ${promisedRatio}×`],
    body,
  );
  const { node, sdk, overNode } = start;
  const loading = textTable(
    ['loading', 'median', 'least', 'over node -e 0', `at most ${promisedRatio}×`],
    [
      ['node -e 0', `${fixed(node.median)} ms`, `${fixed(node.least)} ms`, '', ''],
      ['the SDK in one file', `${fixed(sdk.median)} ms`, `${fixed(sdk.least)} ms`, ratio(overNode), kept(overNode)],
    ],
  );
  return `${calls}\n\n${loading}`;
}

function kept({ median }: Spread): string {
  return median <= promisedRatio ? 'kept' : 'NOT KEPT';
}

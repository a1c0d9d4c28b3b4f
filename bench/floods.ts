import { fileURLToPath } from 'node:url';
import { paths } from '@reeve/contract';
import type { Cores } from './cores.ts';
import type { Target } from './flood-attacks.ts';
import { attacks } from './flood-attacks.ts';
import type { FloodProcess } from './flood-process.ts';
import { givingWay, startFlood } from './flood-process.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { Histogram } from './histogram.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { count, duration, megabytes, ratio, textTable } from './table.ts';

export interface FloodRow {
  readonly attack: string;
  /** Decisions without the attacker, beside one that attacks another process, and beside one that attacks the gateway. */
  readonly alone: Quantiles;
  readonly control: Quantiles;
  readonly attacked: Quantiles;
  /** Attacked over control, round by round. */
  readonly p50Ratio: Spread;
  readonly p99Ratio: Spread;
  /** The gateway's memory at its most, and before the attack. */
  readonly rssBytes: number;
  readonly rssBefore: number;
  /** Calls of others that failed, and connections of the attacker that were cut. */
  readonly failed: number;
  readonly cut: number;
}

interface Quantiles {
  readonly p50Micros: number;
  readonly p99Micros: number;
}

const shape: Shape = { name: 'steady', method: 'unary', connections: 4, inFlight: 2, restMs: 10 };
/** The attack begins before the measured time, and lasts beyond it. */
const marginSecs = 0.2;

interface Scene {
  readonly load: LoadProcess;
  readonly flood: FloodProcess;
  readonly gateway: GatewayProcess;
  readonly echo: ServerProcess;
}

/** Decisions at a modest rate beside each attack. */
export async function measureFloods(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<FloodRow[]> {
  const [load, flood] = [startLoad(cores.load), startFlood(cores.load)];
  const scene = await sceneOf(cores, load, flood);
  try {
    await load.run({ kind: 'register', fleet: scene.gateway.grpc, agents: 100, orgs: 10 });
    await decide(scene, pace.warmupSecs, pace.seconds);
    const rows: FloodRow[] = [];
    for (const { name } of attacks) {
      tell(`${name} …`);
      const rounds: Round[] = [];
      for (let round = 0; round < pace.rounds; round++) rounds.push(await measureRound(scene, pace, name));
      const measured = rowOf(name, rounds);
      tell(ratio(measured.p99Ratio));
      rows.push(measured);
    }
    return rows;
  } finally {
    await Promise.all([load, flood, scene.gateway, scene.echo].map((one) => one.stop()));
  }
}

async function sceneOf(cores: Cores, load: LoadProcess, flood: FloodProcess): Promise<Scene> {
  const program = fileURLToPath(new URL('bare-echo.ts', import.meta.url));
  const [gateway, echo] = await Promise.all([
    startGateway({ core: cores.server }),
    startServer(cores.load, givingWay([process.execPath, program, 'reeve'])),
  ]);
  return { load, flood, gateway, echo };
}

interface Round {
  readonly alone: LoadResult;
  readonly control: LoadResult;
  readonly attacked: LoadResult;
  readonly cut: number;
}

async function measureRound(scene: Scene, pace: Pace, attack: string): Promise<Round> {
  const { flood, gateway, echo, load } = scene;
  const warmupSecs = pace.leadInSecs;
  const seconds = warmupSecs + pace.seconds + marginSecs;
  const beside = async (target: Target) => {
    const [result, { cut }] = await Promise.all([
      decide(scene, warmupSecs, pace.seconds),
      flood.run({ attack, target, seconds }),
    ]);
    return { result, cut };
  };
  const alone = await decide(scene, warmupSecs, pace.seconds);
  const control = await beside({ address: echo.grpc, unary: '/bench/Unary', stream: '/bench/Stream' });
  const attacked = await beside({ address: gateway.grpc, unary: paths.healthCheck, stream: paths.healthWatch });
  await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
  return { alone, control: control.result, attacked: attacked.result, cut: attacked.cut };
}

function decide({ load, gateway }: Scene, warmupSecs: number, seconds: number): Promise<LoadResult> {
  const { grpc, pid } = gateway;
  return load.run({ kind: 'load', fleet: grpc, target: grpc, pid, shape, warmupSecs, seconds });
}

function rowOf(attack: string, rounds: readonly Round[]): FloodRow {
  const quantileRatio = (share: number) =>
    spreadOf(rounds.map(({ control, attacked }) => quantileOf(attacked, share) / quantileOf(control, share)));
  const rss = (pick: (round: Round) => number | undefined) =>
    Math.max(...rounds.map((round) => pick(round) ?? Number.NaN));
  return {
    attack,
    alone: quantilesOf(rounds.map(({ alone }) => alone)),
    control: quantilesOf(rounds.map(({ control }) => control)),
    attacked: quantilesOf(rounds.map(({ attacked }) => attacked)),
    p50Ratio: quantileRatio(0.5),
    p99Ratio: quantileRatio(0.99),
    rssBytes: rss(({ attacked }) => attacked.server.after.rssBytes),
    rssBefore: rss(({ attacked }) => attacked.server.before.rssBytes),
    failed: sum(rounds.map(({ attacked }) => attacked.failed)),
    cut: sum(rounds.map(({ cut }) => cut)),
  };
}

/** Of the median round. */
function quantilesOf(rounds: readonly LoadResult[]): Quantiles {
  const median = (share: number) => spreadOf(rounds.map((round) => quantileOf(round, share))).median;
  return { p50Micros: median(0.5), p99Micros: median(0.99) };
}

/** Infinite where nobody got an answer. */
function quantileOf({ counts }: LoadResult, share: number): number {
  const quantile = new Histogram(counts).quantile(share);
  return Number.isNaN(quantile) ? Number.POSITIVE_INFINITY : quantile;
}

export function floodsTable(rows: readonly FloodRow[]): string {
  const header = [
    'attack',
    'p50 alone',
    'control',
    'attacked',
    'p99 alone',
    'control',
    'attacked',
    'p99 over control',
    'memory',
    'before',
    'failed',
    'cut',
  ];
  const cells = rows.map(({ attack, alone, control, attacked, ...row }) => [
    attack,
    duration(alone.p50Micros),
    duration(control.p50Micros),
    duration(attacked.p50Micros),
    duration(alone.p99Micros),
    duration(control.p99Micros),
    duration(attacked.p99Micros),
    ratio(row.p99Ratio),
    megabytes(row.rssBytes),
    megabytes(row.rssBefore),
    count(row.failed),
    count(row.cut),
  ]);
  return textTable(header, cells);
}

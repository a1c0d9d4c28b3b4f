import type { Pair } from './calm-rounds.ts';
import { calmPairs, othersLine } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { makeDataFolder, startGateway } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { Figures } from './rounds.ts';
import { cpuRatioOf, figuresOf, measureRound, quietCpuRatioOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { makeIssuer } from './subject-tokens.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

export interface SubjectsRow {
  readonly shape: Shape;
  readonly token: string;
  readonly figures: Figures;
  /** The same calls without a token, to the same gateway, in the same rounds. */
  readonly plain: Figures;
  readonly cpuRatio: Spread;
  readonly quietCpuRatio: number;
  /** Time of a call over that without a token, by the mean of each round. */
  readonly timeRatio: Spread;
  readonly leftOut: number;
}

const shapes: readonly Shape[] = [
  { name: 'unary, 1 call', method: 'unary', connections: 1, inFlight: 1 },
  { name: 'unary, 64 connections', method: 'unary', connections: 64, inFlight: 1 },
];

/** What is compared with checks without a token. The first shows the noise of the machine. */
const tokens: readonly { readonly name: string; readonly subject?: 'known' | 'new' }[] = [
  { name: 'none, again' },
  { name: 'known', subject: 'known' },
  { name: 'new each time', subject: 'new' },
];

/** What a subject token adds to a check: one that was verified before, and one that the gateway never saw. */
export async function measureSubjects(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<SubjectsRow[]> {
  const rows: SubjectsRow[] = [];
  for (const shape of shapes) {
    for (const { name, subject } of tokens) {
      tell(`${shape.name}, token: ${name} …`);
      const { folder, remove } = makeDataFolder();
      const { file, privateKey } = makeIssuer(folder);
      const load = startLoad(cores.load);
      const gateway = await startGateway({ core: cores.server, folder, env: { SVC_SUBJECTS: file } });
      await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
      await load.run({ kind: 'vouch', fleet: gateway.grpc, privateKey });
      try {
        const tested = subject === undefined ? shape : { ...shape, subject };
        rows.push({ shape, token: name, ...(await compare(load, pace, gateway, shape, tested)) });
      } finally {
        await Promise.all([load.stop(), gateway.stop()]);
        remove();
      }
    }
  }
  return rows;
}

async function compare(load: LoadProcess, pace: Pace, gateway: GatewayProcess, plain: Shape, tested: Shape) {
  const pair = async (warmupSecs: number): Promise<Pair> => ({
    base: await measureRound(load, pace, plain, gateway, warmupSecs),
    tested: await measureRound(load, pace, tested, gateway, warmupSecs),
  });
  await pair(pace.warmupSecs);
  const { pairs, leftOut } = await calmPairs(pace.rounds, () => pair(pace.leadInSecs));
  return {
    figures: figuresOf(pairs.map((each) => each.tested)),
    plain: figuresOf(pairs.map(({ base }) => base)),
    cpuRatio: cpuRatioOf(pairs),
    quietCpuRatio: quietCpuRatioOf(pairs),
    timeRatio: spreadOf(pairs.map((each) => secondsOf(each.tested) / secondsOf(each.base))),
    leftOut,
  };
}

function secondsOf({ seconds, calls }: LoadResult): number {
  return seconds / calls;
}

export function subjectsTable(rows: readonly SubjectsRow[]): string {
  const header = [
    'calls',
    'token',
    'CPU over none',
    'quietest',
    'time over none',
    'CPU µs/decision',
    'none',
    'decisions/s',
    'p50',
    'p99',
  ];
  const body = rows.flatMap((row, index) => [
    ...(index > 0 && rows[index - 1]?.shape !== row.shape ? [null] : []),
    [
      row.shape.name,
      row.token,
      ratio(row.cpuRatio),
      `${fixed(row.quietCpuRatio, 2)}×`,
      ratio(row.timeRatio),
      fixed(row.figures.cpuMicros),
      fixed(row.plain.cpuMicros),
      count(row.figures.perSecond),
      duration(row.figures.p50Micros),
      duration(row.figures.p99Micros),
    ],
  ]);
  const others = rows.map(({ figures, plain }) => Math.max(figures.othersCores, plain.othersCores));
  return [textTable(header, body), '', othersLine(others, sum(rows.map(({ leftOut }) => leftOut)))].join('\n');
}

import type { Pair } from './calm-rounds.ts';
import { calmPairs, othersLine } from './calm-rounds.ts';
import { conditionPolicies } from './condition-policies.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import { manyPolicies } from './policies.ts';
import type { Figures } from './rounds.ts';
import { cpuRatioOf, figuresOf, measureRound, quietCpuRatioOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { sum } from './statistics.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

export interface ConditionsRow {
  readonly shape: Shape;
  readonly policies: string;
  readonly figures: Figures;
  /** The gateway with the small policy of the throughput benchmark, in the same rounds. */
  readonly plain: Figures;
  readonly cpuRatio: Spread;
  readonly quietCpuRatio: number;
  readonly leftOut: number;
}

const shapes: readonly Shape[] = [
  { name: 'unary, 16 connections', method: 'unary', connections: 16, inFlight: 1 },
  { name: 'BatchCheck of 100', method: 'batch', connections: 1, inFlight: 4 },
];

const orgs = 10;

const sets: readonly { readonly name: string; readonly policies: Readonly<Record<string, string>> }[] = [
  { name: 'the same again', policies: {} },
  { name: '10 documents, plain', policies: manyPolicies(9, orgs) },
  { name: '10 documents, conditions, budgets', policies: conditionPolicies(9, orgs) },
  { name: '1,000 documents, conditions, budgets', policies: conditionPolicies(999, orgs) },
];

/**
 * The cost of a decision with conditions and budgets, measured in turn with a gateway that has the small policy of the
 * throughput figures. The ratio is the answer.
 */
export async function measureConditions(
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<ConditionsRow[]> {
  return await measureSets(sets, cores, pace, tell);
}

/** Each set of policies beside the small policy, by single calls and in batches. */
export async function measureSets(
  chosen: typeof sets,
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<ConditionsRow[]> {
  const rows: ConditionsRow[] = [];
  for (const shape of shapes) {
    for (const { name, policies } of chosen) {
      tell(`${shape.name}, ${name} …`);
      const load = startLoad(cores.load);
      const plain = await prepare(cores, load, {});
      const tested = await prepare(cores, load, policies);
      try {
        rows.push({ shape, policies: name, ...(await compare(load, pace, shape, plain, tested)) });
      } finally {
        await Promise.all([load.stop(), plain.stop(), tested.stop()]);
      }
    }
  }
  return rows;
}

async function prepare(
  cores: Cores,
  load: LoadProcess,
  policies: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const gateway = await startGateway({ core: cores.server, policies });
  await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs });
  return gateway;
}

async function compare(load: LoadProcess, pace: Pace, shape: Shape, plain: GatewayProcess, tested: GatewayProcess) {
  const pair = async (warmupSecs: number): Promise<Pair> => ({
    base: await measureRound(load, pace, shape, plain, warmupSecs),
    tested: await measureRound(load, pace, shape, tested, warmupSecs),
  });
  await pair(pace.warmupSecs);
  const { pairs, leftOut } = await calmPairs(pace.rounds, () => pair(pace.leadInSecs));
  return {
    figures: figuresOf(pairs.map(({ tested: measured }) => measured)),
    plain: figuresOf(pairs.map(({ base }) => base)),
    cpuRatio: cpuRatioOf(pairs),
    quietCpuRatio: quietCpuRatioOf(pairs),
    leftOut,
  };
}

export function conditionsTable(rows: readonly ConditionsRow[]): string {
  const header = [
    'calls',
    'policies',
    'CPU over plain',
    'quietest',
    'CPU µs/decision',
    'plain',
    'decisions/s',
    'p50',
    'p99',
  ];
  const body = rows.flatMap((row, index) => [
    ...(index > 0 && rows[index - 1]?.shape !== row.shape ? [null] : []),
    [
      row.shape.name,
      row.policies,
      ratio(row.cpuRatio),
      `${fixed(row.quietCpuRatio, 2)}×`,
      fixed(row.figures.cpuMicros),
      fixed(row.plain.cpuMicros),
      count(row.figures.perSecond),
      duration(row.figures.p50Micros),
      duration(row.figures.p99Micros),
    ],
  ]);
  const others = rows.map(({ figures, plain }) => Math.max(figures.othersCores, plain.othersCores));
  const left = sum(rows.map(({ leftOut }) => leftOut));
  return [textTable(header, body), '', othersLine(others, left)].join('\n');
}

import { once } from 'node:events';
import type { Compared, Throughput } from './floor-transfers.ts';
import { cpuSecsOf, ended, measureTransfers } from './floor-transfers.ts';
import { FloorWorld } from './floor-world.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { count, fixed, textTable } from './table.ts';

export interface FloorResults {
  readonly start: {
    readonly rounds: number;
    /** To the first byte that the program prints, and to the end, in milliseconds. */
    readonly bare: Timed;
    readonly floored: Timed;
    readonly overMs: { readonly first: Spread; readonly end: Spread };
    /** Of `reeve run` and what it had started and ended until then, in milliseconds. */
    readonly cpuMs: Spread;
  };
  readonly throughput: Throughput;
  readonly stop: {
    readonly processes: number;
    readonly graceMs: number;
    readonly pauseMs: Spread;
    readonly afterGraceMs: Spread;
  };
}

interface Timed {
  readonly first: Spread;
  readonly end: Spread;
}

const aims = { startMs: 150, ratio: 0.5, stopMs: 1000 } as const;
const warmups = 2;

export interface FloorPace {
  readonly starts: number;
  readonly transfers: number;
  readonly bytes: number;
  readonly stops: number;
  readonly processes: number;
}

export const floorPace: FloorPace = { starts: 20, transfers: 5, bytes: 1e9, stops: 3, processes: 1000 };
export const quickFloorPace: FloorPace = { starts: 10, transfers: 5, bytes: 4e8, stops: 1, processes: 1000 };

/** What a floor costs, in turn with the same program without one. */
export async function measureFloor(pace: FloorPace, tell: (line: string) => void): Promise<FloorResults> {
  const world = await FloorWorld.start();
  try {
    tell(`${pace.starts} starts, with a floor and without …`);
    const start = await measureStarts(world, pace.starts);
    tell(`${pace.transfers} transfers each …`);
    const throughput = await measureTransfers(world, pace);
    tell(`${pace.stops} stops of ${pace.processes} processes …`);
    return { start, throughput, stop: await measureStops(world, pace) };
  } finally {
    await world.stop();
  }
}

async function measureStarts(world: FloorWorld, rounds: number): Promise<FloorResults['start']> {
  const bare: Sample[] = [];
  const floored: Sample[] = [];
  for (let round = -warmups; round < rounds; round++) {
    const [without, on] = [await timed(world, undefined), await timed(world, [])];
    if (round < 0) continue;
    bare.push(without);
    floored.push(on);
  }
  const over = (which: keyof Sample) => spreadOf(floored.map((each, at) => each[which] - (bare[at]?.[which] ?? 0)));
  return {
    rounds,
    bare: spreads(bare),
    floored: spreads(floored),
    cpuMs: spreadOf(floored.map(({ cpu }) => cpu)),
    overMs: { first: over('first'), end: over('end') },
  };
}

interface Sample {
  readonly first: number;
  readonly end: number;
  readonly cpu: number;
}

function spreads(samples: readonly Sample[]): Timed {
  return { first: spreadOf(samples.map(({ first }) => first)), end: spreadOf(samples.map(({ end }) => end)) };
}

async function timed(world: FloorWorld, flags: readonly string[] | undefined): Promise<Sample> {
  const began = performance.now();
  const child = world.begin(['sh', '-c', 'echo begun'], flags);
  let [first, cpu] = [Number.NaN, Number.NaN];
  child.stdout?.once('data', () => {
    first = performance.now() - began;
    cpu = cpuSecsOf(child) * 1000;
  });
  await ended(child);
  return { first, end: performance.now() - began, cpu };
}

/** Programs that take no notice of SIGTERM. */
const many = (processes: number) =>
  `trap "" TERM; i=0; while [ $i -lt ${processes} ]; do sleep 1000 & i=$((i+1)); done; echo begun; wait`;

async function measureStops(world: FloorWorld, { stops, processes }: FloorPace): Promise<FloorResults['stop']> {
  const graceMs = 1000;
  const [pauses, terminations]: [number[], number[]] = [[], []];
  for (let round = 0; round < stops; round++) {
    const child = world.begin(['sh', '-c', many(processes)], ['--grace', String(graceMs / 1000)]);
    const over = once(child, 'close');
    await Promise.race([
      once(child.stdout ?? child, 'data'),
      over.then(([code]) => fail(`it ended with ${String(code)}`)),
    ]);
    const paused = await world.control('pause');
    if (paused.processes < processes) fail(`only ${paused.processes} processes were there`);
    pauses.push(paused.tookMs);
    await world.control('resume');
    const ending = await world.control('terminate');
    terminations.push(ending.tookMs - graceMs);
    await over;
  }
  return { processes, graceMs, pauseMs: spreadOf(pauses), afterGraceMs: spreadOf(terminations) };
}

function fail(why: string): never {
  throw new Error(why);
}

export function floorTable({ start, throughput, stop }: FloorResults): string {
  const kept = (isKept: boolean) => (isKept ? 'kept' : 'NOT KEPT');
  const ms = ({ median, least }: Spread) => [`${fixed(median)} ms`, `${fixed(least)} ms`];
  const starts = textTable(
    [`a start, ${start.rounds} rounds`, 'median', 'least', `at most ${aims.startMs} ms over`],
    [
      ['the bare program prints', ...ms(start.bare.first)],
      ['on a floor, it prints', ...ms(start.floored.first)],
      ['over the bare program', ...ms(start.overMs.first), kept(start.overMs.first.median <= aims.startMs)],
      ['over it, until the end is reported', ...ms(start.overMs.end)],
      ['processor time until it prints', ...ms(start.cpuMs)],
    ],
  );
  const rate = ({ median }: Spread) => `${count(median)} MB/s`;
  const row = (what: string, { direct, relayed, proxied, ratio, ratioToRelay }: Compared) => [
    what,
    ...[direct, relayed, proxied].map(rate),
    fixed(ratioToRelay.median, 2),
    fixed(ratio.median, 2),
    kept(ratio.median >= aims.ratio),
  ];
  const header = ['direct', 'bare relay', 'the proxy', 'to the relay', 'to direct', `at least ${aims.ratio}`];
  const rates = textTable(
    [`${count(throughput.bytes / 1e6)} MB by loopback`, ...header],
    [row('to the program', throughput.down), row('from the program', throughput.up)],
  );
  const cpuRow = (what: string, { cpu }: Compared) => [
    what,
    `${fixed(cpu.direct.median, 2)} s`,
    `${fixed(cpu.proxied.median, 2)} s`,
    fixed(cpu.ratio.median, 2),
    `${fixed(cpu.ratio.least, 2)} to ${fixed(cpu.ratio.most, 2)}`,
    kept(cpu.ratio.median >= aims.ratio),
  ];
  const cpus = textTable(
    [
      `processor time for 1 GB, ${throughput.rounds} rounds`,
      'direct',
      'by the proxy',
      'direct to it',
      'from',
      `at least ${aims.ratio}`,
    ],
    [cpuRow('to the program', throughput.down), cpuRow('from the program', throughput.up)],
  );
  const stops = textTable(
    [`${count(stop.processes)} processes`, 'median', 'least', `at most ${aims.stopMs} ms`],
    [
      ['PAUSE is effective', ...ms(stop.pauseMs)],
      [
        `TERMINATE, after a grace of ${stop.graceMs} ms`,
        ...ms(stop.afterGraceMs),
        kept(stop.afterGraceMs.median <= aims.stopMs),
      ],
    ],
  );
  return [starts, rates, cpus, stops].join('\n\n');
}

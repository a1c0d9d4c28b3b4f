import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
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
  };
  readonly throughput: {
    readonly rounds: number;
    readonly bytes: number;
    /** Megabytes a second, from a server on loopback to the program, and back. */
    readonly down: Compared;
    readonly up: Compared;
  };
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

interface Compared {
  readonly direct: Spread;
  /** By a process that joins two sockets, and does nothing else: what any proxy in Node costs here. */
  readonly relayed: Spread;
  readonly proxied: Spread;
  /** To the direct connection, and to the relay. */
  readonly ratio: Spread;
  readonly ratioToRelay: Spread;
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
export const quickFloorPace: FloorPace = { starts: 5, transfers: 2, bytes: 4e8, stops: 1, processes: 1000 };

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
    overMs: { first: over('first'), end: over('end') },
  };
}

interface Sample {
  readonly first: number;
  readonly end: number;
}

function spreads(samples: readonly Sample[]): Timed {
  return { first: spreadOf(samples.map(({ first }) => first)), end: spreadOf(samples.map(({ end }) => end)) };
}

async function timed(world: FloorWorld, flags: readonly string[] | undefined): Promise<Sample> {
  const began = performance.now();
  const child = world.begin(['sh', '-c', 'echo begun'], flags);
  let first = Number.NaN;
  child.stdout?.once('data', () => (first = performance.now() - began));
  await ended(child);
  return { first, end: performance.now() - began };
}

/** Waits for the end of a program. Throws what it said if it has failed. */
async function ended(child: ChildProcess): Promise<string> {
  let [said, failed] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (failed += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`a program ended with ${code}: ${failed}`);
  return said;
}

/** Says how long it took from the first byte to the last, in one direction. By the proxy, if there is one. */
const client = `
const net = require('node:net');
const [port, bytes, way] = process.argv.slice(1);
const proxy = /^http:..(.*):([0-9]+)$/.exec(process.env.HTTP_PROXY ?? '');
const socket = proxy ? net.connect(Number(proxy[2]), proxy[1]) : net.connect(Number(port), '127.0.0.1');
const go = () => {
  socket.write(way);
  const began = process.hrtime.bigint();
  const done = () => { console.log(Number(process.hrtime.bigint() - began) / 1e9); process.exit(); };
  let left = Number(bytes);
  if (way === 'd') return socket.on('data', (chunk) => { left -= chunk.length; if (left <= 0) done(); });
  const piece = Buffer.alloc(65536);
  const more = () => { while (left > 0) { left -= piece.length; if (!socket.write(piece)) return socket.once('drain', more); } };
  more();
  socket.once('data', done);
};
socket.once('connect', () => {
  if (!proxy) return go();
  socket.write('CONNECT 127.0.0.1:' + port + ' HTTP/1.1\\r\\n\\r\\n');
  socket.once('data', go);
});`;

const relaying = `
const net = require('node:net');
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ port: Number(process.argv[1]), host: '127.0.0.1', allowHalfOpen: true });
  for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).pipe(other);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Sends the bytes, or takes as many and then answers, by the first byte that it gets. */
function serve(bytes: number): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {});
    socket.once('data', (head: Buffer) => {
      let left = bytes - (head.length - 1);
      if (head[0] === 'u'.charCodeAt(0)) {
        socket.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left <= 0) socket.write('done');
        });
        return;
      }
      const piece = Buffer.alloc(65_536);
      const more = () => {
        while (left > 0) {
          left -= piece.length;
          if (!socket.write(piece)) return void socket.once('drain', more);
        }
      };
      more();
    });
  };
}

async function measureTransfers(
  world: FloorWorld,
  { transfers, bytes }: FloorPace,
): Promise<FloorResults['throughput']> {
  const server = createServer({ noDelay: true }, serve(bytes));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const transferred = async (way: 'd' | 'u', to: number, flags?: readonly string[]) => {
    const words = [process.execPath, '-e', client, String(to), String(bytes), way];
    return bytes / 1e6 / Number(await ended(world.begin(words, flags)));
  };
  const relay = world.begin([process.execPath, '-e', relaying, String(port)]);
  const [relayPort] = (await once(relay.stdout ?? relay, 'data')) as [Buffer];
  const compared = async (way: 'd' | 'u'): Promise<Compared> => {
    const direct: number[] = [];
    const relayed: number[] = [];
    const proxied: number[] = [];
    for (let round = 0; round < transfers; round++) {
      direct.push(await transferred(way, port));
      relayed.push(await transferred(way, Number(String(relayPort))));
      proxied.push(await transferred(way, port, []));
    }
    const to = (others: readonly number[]) => spreadOf(proxied.map((each, at) => each / (others[at] ?? Number.NaN)));
    const spread = { direct: spreadOf(direct), relayed: spreadOf(relayed), proxied: spreadOf(proxied) };
    return { ...spread, ratio: to(direct), ratioToRelay: to(relayed) };
  };
  try {
    return { rounds: transfers, bytes, down: await compared('d'), up: await compared('u') };
  } finally {
    relay.kill('SIGKILL');
    server.close();
  }
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
  return [starts, rates, stops].join('\n\n');
}

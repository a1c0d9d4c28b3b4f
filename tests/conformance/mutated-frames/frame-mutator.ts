import { frameType, preface, settingId } from '../../../packages/grpc-server/src/http2/frame.ts';
import { settingsFrame } from '../../../packages/grpc-server/src/http2/settings.ts';
import {
  data,
  emptySettings,
  frame,
  framed,
  headers,
  ping,
  request,
  requestFields,
  word,
} from '../../../packages/grpc-server/src/testkit/raw-client.ts';

export type Random = (below: number) => number;

/** Numbers that a seed repeats. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const streamIdAt = 5;
const hello = framed(Buffer.from('hello'));
const paths = ['/t/Echo', '/t/Trust', '/t/Throw', '/t/Hang', '/t/Stream', '/t/Push', '/t/Pause', '/t/None'];
const plain = requestFields('/t/Echo').filter(([name]) => name !== 'content-type');

/** The beginnings of calls. */
const heads: readonly Buffer[] = [
  ...paths.map((path) => request(1, path)),
  ...paths.map((path) => request(1, path, ['grpc-timeout', '1m'])),
  ...paths.map((path) => headers(1, requestFields(path), true)),
  ...[true, false].map((isLast) => headers(1, plain, isLast)),
  headers(1, [...plain, ['content-length', '10']]),
];

/** What may follow, on a stream or on none. */
const others: readonly Buffer[] = [
  headers(1, [['x-trailer', '1']], true),
  frame(frameType.headers, 0, 1, request(1).subarray(9, 30)),
  frame(frameType.continuation, 4, 1, request(1).subarray(30)),
  ...[true, false].flatMap((isLast) => [hello, Buffer.concat([hello, hello])].map((it) => data(1, it, isLast))),
  ...[0, 3, 7].map((end) => data(1, hello.subarray(0, end))),
  data(1, framed(Buffer.alloc(16_000))),
  ...[20_000, 40_000, 70_000].map((declared) => data(1, framed(Buffer.alloc(1000), declared))),
  data(1, Buffer.alloc(16_000), true),
  data(1, Buffer.alloc(0), true),
  frame(frameType.data, 8, 1, Buffer.concat([Buffer.from([9]), hello, Buffer.alloc(9)])),
  ...[0, 1, 100, 70_000, 2 ** 31 - 1].map((increment) => frame(frameType.windowUpdate, 0, 1, word(increment))),
  frame(frameType.windowUpdate, 0, 0, word(70_000)),
  frame(frameType.rstStream, 0, 1, word(8)),
  frame(frameType.priority, 0, 1, Buffer.alloc(5)),
  frame(frameType.goAway, 0, 0, Buffer.alloc(8)),
  frame(99, 0, 1, hello),
  ...[0, 1, 40, 70_000, 2 ** 31 - 1].map((size) => settingsFrame([[settingId.initialWindowSize, size]])),
  ping(),
  ping('farewell', true),
];

/** A connection's frames: likely ones in any order, and in three of four cases damaged here and there. */
export function mutatedFrames(random: Random): Buffer {
  const parts: Buffer[] = [emptySettings];
  let calls = 0;
  for (let left = 1 + random(16); left > 0; left--) {
    const isNew = calls === 0 || random(4) === 0;
    const pool = isNew ? heads : others;
    const part = Buffer.from(pool[random(pool.length)] ?? emptySettings);
    // Mostly on streams that were begun: elsewhere a frame ends the connection.
    const call = isNew ? calls++ : random(30) === 0 ? random(9) : random(calls);
    if (part.readUInt32BE(streamIdAt) !== 0) part.writeUInt32BE(1 + 2 * call, streamIdAt);
    parts.push(part);
  }
  const all = Buffer.concat(parts);
  for (let faults = random(4); faults > 0; faults--) damage(all, parts, random);
  return Buffer.concat([preface, random(20) === 0 ? all.subarray(random(all.length)) : all]);
}

/** Changes a byte anywhere, or in the header of a frame. */
function damage(all: Buffer, parts: readonly Buffer[], random: Random): void {
  let at = random(all.length);
  if (random(2) === 0) {
    const index = random(parts.length);
    at = parts.slice(0, index).reduce((sum, { length }) => sum + length, 0) + random(9);
  }
  all[at] = random(2) === 0 ? random(256) : (all[at] ?? 0) ^ (1 << random(8));
}

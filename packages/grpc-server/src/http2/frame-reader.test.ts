import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { frame } from '../testkit/raw-client.ts';
import { ConnectionError } from './connection-error.ts';
import { flag, frameType } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

/** What a reader passes on, with the parts of each DATA frame put together. */
function record(chunks: readonly Uint8Array[]): string[] {
  const seen: string[] = [];
  let content = '';
  const reader = new FrameReader({
    mayReadOn: true,
    dataBegins: (stream, length, inside, isLast) => seen.push(`DATA ${stream} ${length} ${inside} ${isLast}`),
    dataPart: (bytes, start, end) => {
      content += bytes.toString('hex', start, end);
      return end;
    },
    dataEnds: () => {
      seen.push(content);
      content = '';
    },
    frame: (type, flags, stream, bytes, start, end) =>
      seen.push(`${type} ${flags} ${stream} ${bytes.toString('hex', start, end)}`),
  });
  try {
    for (const chunk of chunks) reader.read(Buffer.from(chunk), 0);
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectionError);
    // How much of a frame came before its fault depends on the cuts.
    seen.push((error as ConnectionError).message);
  }
  return seen;
}

const anyFrame = fc
  .record({
    type: fc.integer({ min: 0, max: 12 }),
    flags: fc.integer({ min: 0, max: 255 }),
    stream: fc.integer({ min: 0, max: 9 }),
    payload: fc.uint8Array({ maxLength: 40 }),
  })
  .map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload));

test('frames are the same, wherever reads cut them', () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 12 }), (frames, places) => {
      const bytes = Buffer.concat(frames);
      const cuts = [0, ...places.map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b), bytes.length];
      const chunks = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
      expect(record(chunks)).toEqual(record([bytes]));
    }),
    { numRuns: 1000 },
  );
});

test('frames are the same, byte by byte', () => {
  const padded = frame(frameType.data, flag.padded | flag.endStream, 1, Buffer.from('0361626300000', 'hex'));
  const bytes = Buffer.concat([frame(frameType.ping, 0, 0, Buffer.alloc(8)), padded, frame(frameType.settings, 0, 0)]);
  expect(record(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(record([bytes]));
  expect(record([bytes])).toHaveLength(4);
});

test('a frame that is not here yet has a beginning, which more bytes do not move', () => {
  const reader = new FrameReader({
    mayReadOn: true,
    dataBegins: () => undefined,
    dataPart: (_bytes, _start, end) => end,
    dataEnds: () => undefined,
    frame: () => undefined,
  });
  const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));
  reader.read(ping.subarray(0, 3), 10);
  reader.read(ping.subarray(3, 12), 20);
  expect(reader.since).toBe(10);
  reader.read(Buffer.concat([ping.subarray(12), ping.subarray(0, 5)]), 30);
  expect(reader.since).toBe(30);
  reader.read(ping.subarray(5), 40);
  expect(reader.since).toBeUndefined();
});

import * as fc from 'fast-check';
import { encodeFields } from '../../../packages/grpc-server/src/hpack/encoder.ts';
import { flag, frameType, settingId } from '../../../packages/grpc-server/src/http2/frame.ts';
import { settingsFrame } from '../../../packages/grpc-server/src/http2/settings.ts';
import { frame, requestFields, word } from '../../../packages/grpc-server/src/testkit/raw-client.ts';
import { writeCallRequest } from '../test-messages.ts';
import { servicePath } from '../test-service.ts';
import type { Oddity } from './oddities.ts';
import { bodyOf, headOf, oddities } from './oddities.ts';

/** A call as frames: a usual one, but for one oddity, laid out in any way that the rules allow. */
export interface RawCall {
  readonly oddity: Oddity;
  readonly path: string;
  readonly answerBytes: number;
  readonly payloadBytes: number;
  readonly layout: Layout;
  /** How many bytes are sent before the connection is cut; all of them if undefined. */
  readonly cutAt: number | undefined;
}

interface Layout {
  /** Where the header block goes on in another frame. */
  readonly blockCuts: readonly number[];
  readonly parts: readonly { readonly length: number; readonly padding: number | undefined }[];
  readonly end: 'flag' | 'empty frame' | 'trailers';
  readonly window: number;
}

const unaryPath = `${servicePath}/UnaryCall`;

const layout: fc.Arbitrary<Layout> = fc.record({
  blockCuts: fc.array(fc.nat(100), { maxLength: 3 }).map((cuts) => [...cuts].sort((a, b) => a - b)),
  parts: fc.array(
    fc.record({ length: fc.oneof(fc.nat(9), fc.nat(16_000)), padding: fc.option(fc.nat(255), { nil: undefined }) }),
    { maxLength: 6 },
  ),
  end: fc.constantFrom('flag', 'empty frame', 'trailers'),
  window: fc.constantFrom(0, 1, 5, 100, 65_535, 1_000_000),
});

export const rawCalls: fc.Arbitrary<RawCall> = fc.record({
  oddity: fc.oneof(fc.constant<Oddity>('none'), fc.constantFrom(...oddities)),
  path: fc.constantFrom(unaryPath, `${servicePath}/FullDuplexCall`),
  answerBytes: fc.oneof(fc.nat(50), fc.constantFrom(16_370, 16_384, 65_530, 70_000)),
  // Two of them, with padding, are within the window of a stream.
  payloadBytes: fc.oneof(fc.nat(50), fc.constantFrom(8000, 16_370, 16_384, 30_000)),
  layout,
  cutAt: fc.option(fc.nat(20_000), { freq: 8, nil: undefined }),
});

/** SETTINGS, and the frames of the call on stream 1. */
export function framesOf({ oddity, path, layout: how, answerBytes, payloadBytes }: RawCall): Buffer {
  const asked =
    path === unaryPath ? { responseSize: answerBytes } : { responses: [{ size: answerBytes, intervalMicros: 0 }] };
  const message = writeCallRequest(asked, payloadBytes);
  const settings = settingsFrame([[settingId.initialWindowSize, how.window]]);
  const head = block(1, encodeFields(headOf(oddity, requestFields(path))), how.blockCuts, false);
  return Buffer.concat([settings, ...head, ...contentOf(bodyOf(oddity, message), how), ...endOf(oddity, how)]);
}

/** What lets the whole answer through. */
export const openWindows: Buffer = Buffer.concat([
  settingsFrame([[settingId.initialWindowSize, 10_000_000]]),
  frame(frameType.windowUpdate, 0, 0, word(10_000_000)),
]);

function contentOf(bytes: Buffer, { parts, end }: Layout): Buffer[] {
  const frames: Buffer[] = [];
  let at = 0;
  for (const { length, padding } of parts) {
    if (at + length >= bytes.length) break;
    frames.push(dataFrame(bytes.subarray(at, at + length), padding, false));
    at += length;
  }
  for (; bytes.length - at > 16_384; at += 16_384)
    frames.push(dataFrame(bytes.subarray(at, at + 16_384), undefined, false));
  frames.push(dataFrame(bytes.subarray(at), undefined, end === 'flag'));
  return frames;
}

function endOf(oddity: Oddity, { end, blockCuts }: Layout): Buffer[] {
  if (oddity === 'a reset') return [frame(frameType.rstStream, 0, 1, word(8))];
  if (end === 'empty frame') return [dataFrame(Buffer.alloc(0), undefined, true)];
  if (end === 'trailers') return block(1, encodeFields([['x-trailer', '1']]), blockCuts, true);
  return [];
}

function dataFrame(content: Buffer, padding: number | undefined, isLast: boolean): Buffer {
  const end = isLast ? flag.endStream : 0;
  if (padding === undefined || content.length + padding >= 16_384) return frame(frameType.data, end, 1, content);
  const padded = Buffer.concat([Buffer.from([padding]), content, Buffer.alloc(padding)]);
  return frame(frameType.data, end | flag.padded, 1, padded);
}

function block(stream: number, bytes: Buffer, cuts: readonly number[], isLast: boolean): Buffer[] {
  const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length];
  return ends.map((to, index) => {
    const part = bytes.subarray(ends[index - 1] ?? 0, to);
    const flags = (index === ends.length - 1 ? flag.endHeaders : 0) | (isLast && index === 0 ? flag.endStream : 0);
    return frame(index === 0 ? frameType.headers : frameType.continuation, flags, stream, part);
  });
}

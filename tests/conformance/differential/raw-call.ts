import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { encodeFields } from '../../../packages/grpc-server/src/hpack/encoder.ts';
import { flag, frameType, settingId } from '../../../packages/grpc-server/src/http2/frame.ts';
import { settingsFrame } from '../../../packages/grpc-server/src/http2/settings.ts';
import { frame, framed, requestFields, word } from '../../../packages/grpc-server/src/testkit/raw-client.ts';
import { writeCallRequest } from '../test-messages.ts';
import { servicePath } from '../test-service.ts';
import type { Oddity } from './oddities.ts';
import { oddities } from './oddities.ts';

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
  const head = block(1, encodeFields(fieldsOf(oddity, path)), how.blockCuts, false);
  return Buffer.concat([settings, ...head, ...contentOf(bodyOf(oddity, message), how), ...endOf(oddity, how)]);
}

/** What lets the whole answer through. */
export const openWindows: Buffer = Buffer.concat([
  settingsFrame([[settingId.initialWindowSize, 10_000_000]]),
  frame(frameType.windowUpdate, 0, 0, word(10_000_000)),
]);

type Fields = readonly (readonly [string, string])[];

function fieldsOf(oddity: Oddity, path: string): Fields {
  const usual = requestFields(path);
  const set = (name: string, value: string) => usual.map((it) => (it[0] === name ? ([name, value] as const) : it));
  const without = (name: string) => usual.filter((it) => it[0] !== name);
  const and = (name: string, value: string): Fields => [...usual, [name, value]];
  switch (oddity) {
    case 'another content-type':
      return set('content-type', 'application/json');
    case 'no content-type':
      return without('content-type');
    case 'a suffix of the content-type':
      return set('content-type', 'application/grpc+proto');
    case 'GET':
      return set(':method', 'GET');
    case 'no te':
      return without('te');
    case 'another te':
      return set('te', 'gzip');
    case 'no path':
      return without(':path');
    case 'no scheme':
      return without(':scheme');
    case 'an unknown method':
      return set(':path', '/none/None');
    case 'a capital in a name':
      return and('X-a', '1');
    case 'an unknown pseudo-header field':
      return [[':none', '1'], ...usual];
    case 'a pseudo-header field behind others':
      return [...without(':authority'), [':authority', 'localhost']];
    case 'a field of the connection':
      return and('connection', 'close');
    case 'two paths':
      return [[':path', path], ...usual];
    case 'NUL in a value':
      return and('x-a', 'a\0b');
    case 'white space around a value':
      return and('x-a', ' a ');
    case 'an empty value':
      return and('x-a', '');
    case 'a timeout':
      return and('grpc-timeout', '1H');
    case 'a timeout without a unit':
      return and('grpc-timeout', '1');
    case 'a timeout of nine digits':
      return and('grpc-timeout', '123456789S');
    case 'a wrong content-length':
      return and('content-length', '3');
    case 'binary metadata that is not base64':
      return and('x-a-bin', '*');
    case 'an encoding that it does not use':
    case 'a compressed message':
      return and('grpc-encoding', 'gzip');
    default:
      return usual;
  }
}

function bodyOf(oddity: Oddity, message: Uint8Array): Buffer {
  const usual = framed(message);
  switch (oddity) {
    case 'no message':
      return Buffer.alloc(0);
    case 'two messages':
      return Buffer.concat([usual, usual]);
    case 'a message that is cut off':
      return framed(message, message.length + 1);
    case 'a prefix that is cut off':
      return usual.subarray(0, 3);
    case 'a compressed message': {
      const packed = gzipSync(message);
      return framed(packed, packed.length, true);
    }
    case 'a compressed message without an encoding':
      return framed(message, message.length, true);
    case 'a message over the limit':
      return framed(message, 5_000_000);
    default:
      return usual;
  }
}

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

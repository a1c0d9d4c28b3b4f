import { encodeFields, status200 } from '../hpack/encoder.ts';
import { flag, frameHeaderBytes, frameType, writeFrameHeader } from '../http2/frame.ts';
import type { Status } from '../status.ts';
import { encodeMessage } from '../status.ts';

/** The head of every gRPC answer. */
const headBlock: Buffer = Buffer.concat([
  Buffer.from([status200]),
  encodeFields([
    ['content-type', 'application/grpc'],
    ['grpc-accept-encoding', 'identity'],
  ]),
]);
const okBlock: Buffer = encodeFields([['grpc-status', '0']]);

/** Whole frames for the usual answer. Only the stream's id is missing, at `streamIdAt`. */
export const headFrame: Buffer = frameOf(headBlock, flag.endHeaders);
export const okFrame: Buffer = frameOf(okBlock, flag.endHeaders | flag.endStream);
export const streamIdAt = 5;

function frameOf(block: Buffer, flags: number): Buffer {
  const out = Buffer.alloc(frameHeaderBytes + block.length);
  writeFrameHeader(out, 0, block.length, frameType.headers, flags, 0);
  out.set(block, frameHeaderBytes);
  return out;
}

export function headBlockWith(extra: Buffer | undefined): Buffer {
  return extra === undefined ? headBlock : Buffer.concat([headBlock, extra]);
}

/** The block with the status. Without a head before it, it is a head of its own ("Trailers-Only"). */
export function trailerBlock(status: Status, hasHead: boolean, head?: Buffer, extra?: Buffer): Buffer {
  const fields: (readonly [string, string])[] = [['grpc-status', String(status.code)]];
  if (status.message !== '') fields.push(['grpc-message', encodeMessage(status.message)]);
  if (status.retryAfterMs !== undefined) fields.push(['grpc-retry-pushback-ms', String(status.retryAfterMs)]);
  const parts = [encodeFields(fields)];
  if (!hasHead) parts.unshift(headBlockWith(head));
  if (extra !== undefined) parts.push(extra);
  return Buffer.concat(parts);
}

/** The content of an answer to a request that is not gRPC. */
export const notGrpc: Buffer = Buffer.from(
  'This is a gRPC server. Call it by a gRPC client: with POST, over HTTP/2, with content-type application/grpc.\n',
);

/** The head of an answer that is not gRPC. 405 has to name the methods that are allowed (RFC 9110 §15.5.6). */
export function httpErrorBlock(status: number): Buffer {
  const fields: (readonly [string, string])[] = [
    [':status', String(status)],
    ['content-type', 'text/plain'],
    ['content-length', String(notGrpc.length)],
  ];
  if (status === 405) fields.push(['allow', 'POST']);
  return encodeFields(fields);
}

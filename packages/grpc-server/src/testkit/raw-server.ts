import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { encodeFields } from '../hpack/encoder.ts';
import { flag, frameType, preface } from '../http2/frame.ts';
import { emptySettings, frame, framed, RawClient } from './raw-client.ts';
import { afterwards } from './test-server.ts';

export interface RawServer {
  readonly port: number;
  readonly address: string;
  /** How many connections there have been. */
  readonly connections: number;
}

/** A server that sends any bytes. `serve` gets each connection after its preface; SETTINGS are up to it. */
export async function rawServer(serve: (peer: RawClient, nth: number) => void): Promise<RawServer> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    // The preface comes in one piece with what follows it.
    socket.once('data', (first: Buffer) => {
      socket.unshift(first.subarray(preface.length));
      serve(new RawClient(socket), ++connections);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  afterwards(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port,
    address: `127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
  };
}

const answerFields = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
] as const;

export function answerHead(stream: number, ...extra: (readonly [string, string])[]): Buffer {
  return frame(frameType.headers, flag.endHeaders, stream, encodeFields([...answerFields, ...extra]));
}

export function trailers(stream: number, code = '0', ...extra: (readonly [string, string])[]): Buffer {
  const block = encodeFields([['grpc-status', code], ...extra]);
  return frame(frameType.headers, flag.endHeaders | flag.endStream, stream, block);
}

/** A whole answer. */
export function answer(stream: number, message: Uint8Array): Buffer {
  return Buffer.concat([answerHead(stream), frame(frameType.data, 0, stream, framed(message)), trailers(stream)]);
}

/** Answers the calls of a peer, in order, once each has come whole. */
export async function answerCalls(peer: RawClient, answerTo: (stream: number) => Buffer): Promise<void> {
  peer.write(emptySettings);
  for (let stream = 1; ; stream += 2) {
    const isEnd = (it: { stream: number; flags: number; type: number }) =>
      it.stream === stream && it.type <= frameType.headers && (it.flags & flag.endStream) !== 0;
    if ((await peer.until(isEnd)) === undefined) return;
    peer.write(answerTo(stream));
  }
}

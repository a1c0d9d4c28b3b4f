// A server that answers every call with the same 60 bytes, by the engine that its argument names.
import type { ServerDuplexStream, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { GrpcServer } from '@reeve/grpc-server';

const answer = Buffer.alloc(60, 1);
const same = (bytes: Buffer) => bytes;

function method(path: string, isStream: boolean) {
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  return { path, requestStream: isStream, responseStream: isStream, ...codec };
}

function byLibrary(): Promise<number> {
  const server = new Server({ 'grpc.max_concurrent_streams': 10_000, 'grpc-node.max_session_memory': 256 });
  server.addService(
    { unary: method('/bench/Unary', false), stream: method('/bench/Stream', true) },
    {
      unary: (_: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => done(null, answer),
      stream: (call: ServerDuplexStream<Buffer, Buffer>) => {
        call.on('data', () => call.write(answer));
        call.on('end', () => call.end());
      },
    },
  );
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

function byEngine(): Promise<number> {
  const server = new GrpcServer({
    unary: new Map([['/bench/Unary', (_message, call) => call.answer(answer)]]),
    stream: new Map([
      [
        '/bench/Stream',
        (stream) => ({
          message: () => void stream.send(answer),
          ended: () => stream.end(),
          closed: () => undefined,
        }),
      ],
    ]),
    statusOf: (error) => ({ code: 13, message: String(error) }),
  });
  return server.listen('127.0.0.1', 0);
}

const port = await (process.argv[2] === 'reeve' ? byEngine() : byLibrary());
process.stdout.write(`${JSON.stringify({ event: 'listening', grpc: `127.0.0.1:${port}` })}\n`);

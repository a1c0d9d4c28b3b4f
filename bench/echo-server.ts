// The ceiling: the bare gRPC library, which decodes the same requests with the same codec and encodes a fixed answer
// of the same size. It judges nothing and writes nothing.
import type { ServerDuplexStream, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { BatchCheckRequest, BatchCheckResponse, CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { encode } from '../packages/gateway/src/transports/grpc/message-writer.ts';

const [unaryAnswer = '', batchAnswer = ''] = process.argv.slice(2);
const answer = CheckActionResponse.decode(Buffer.from(unaryAnswer, 'base64'));
const answers = BatchCheckResponse.decode(Buffer.from(batchAnswer, 'base64'));

interface Codec<Message> {
  encode(message: Message, writer: Parameters<typeof CheckActionResponse.encode>[1]): unknown;
  decode(bytes: Uint8Array): Message;
}

type Encodable<Message> = Parameters<typeof encode<Message>>[0] & Codec<Message>;

function method<Request, Response>(
  path: string,
  request: Encodable<Request>,
  response: Encodable<Response>,
  stream: boolean,
) {
  return {
    path,
    requestStream: stream,
    responseStream: stream,
    requestSerialize: (message: Request) => Buffer.from(encode(request, message)()),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (message: Response) => Buffer.from(encode(response, message)()),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  };
}

const implementation = {
  checkAction: (
    _: ServerUnaryCall<CheckActionRequest, CheckActionResponse>,
    done: sendUnaryData<CheckActionResponse>,
  ) => done(null, answer),
  batchCheck: (_: ServerUnaryCall<BatchCheckRequest, BatchCheckResponse>, done: sendUnaryData<BatchCheckResponse>) =>
    done(null, answers),
  checkStream: (call: ServerDuplexStream<CheckActionRequest, CheckActionResponse>) => {
    call.on('data', () => {
      if (!call.write(answer)) call.pause();
    });
    call.on('drain', () => call.resume());
    call.on('end', () => call.end());
  },
};

const server = new Server({ 'grpc.max_concurrent_streams': 10_000, 'grpc-node.max_session_memory': 256 });
server.addService(
  {
    checkAction: method(paths.checkAction, CheckActionRequest, CheckActionResponse, false),
    batchCheck: method(paths.batchCheck, BatchCheckRequest, BatchCheckResponse, false),
    checkStream: method(paths.checkStream, CheckActionRequest, CheckActionResponse, true),
  },
  implementation,
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`${JSON.stringify({ event: 'listening', grpc: `127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => server.forceShutdown());

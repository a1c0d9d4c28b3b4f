// A bare grpc-js server: takes a message as bytes and answers with fixed bytes, given as hexadecimal digits.
import type { sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { echoOf, tellListening } from './raw-echo.ts';

const { path, answer } = echoOf(process.argv);
const asIs = (bytes: Buffer) => bytes;
const method = {
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
const server = new Server({ 'grpc.max_concurrent_streams': 10_000, 'grpc-node.max_session_memory': 256 });
server.addService({ echo: method }, { echo: (_: unknown, done: sendUnaryData<Buffer>) => done(null, answer) });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  tellListening(port);
});
process.once('SIGTERM', () => server.forceShutdown());

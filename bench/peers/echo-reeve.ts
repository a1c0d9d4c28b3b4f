// Reeve's bare engine: takes a message as bytes and answers with fixed bytes, given as hexadecimal digits.
import { GrpcServer } from '@reeve/grpc-server';
import { echoOf, tellListening } from './raw-echo.ts';

const { path, answer } = echoOf(process.argv);
const server = new GrpcServer({
  unary: new Map([[path, (_, call) => call.answer(answer)]]),
  stream: new Map(),
  statusOf: (error) => ({ code: 2, message: String(error) }),
});
tellListening(await server.listen('127.0.0.1', 0));

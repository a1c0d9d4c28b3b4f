// Reeve's bare engine: takes a message as bytes and answers with fixed bytes, given as hexadecimal digits.
import { echoOf, tellListening } from './raw-echo.ts';

interface Engine {
  listen(host: string, port: number): Promise<number>;
}

interface EngineOptions {
  readonly unary: ReadonlyMap<string, (message: Uint8Array, call: { answer(message: Uint8Array): void }) => void>;
  readonly stream: ReadonlyMap<string, never>;
  readonly statusOf: (error: unknown) => { readonly code: number; readonly message: string };
}

const { path, answer } = echoOf(process.argv);
const source = new URL('../../packages/grpc-server/src/index.ts', import.meta.url);
const { GrpcServer } = (await import(source.href)) as { GrpcServer: new (options: EngineOptions) => Engine };
const server = new GrpcServer({
  unary: new Map([[path, (_, call) => call.answer(answer)]]),
  stream: new Map<string, never>(),
  statusOf: (error) => ({ code: 2, message: String(error) }),
});
tellListening(await server.listen('127.0.0.1', 0));

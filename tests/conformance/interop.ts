import { grpcGoClient } from './clients/grpc-go.ts';
import { grpcJsClient } from './clients/grpc-js.ts';
import { grpcioClient } from './clients/grpcio.ts';
import { reeveClient } from './clients/reeve.ts';
import { tonicClient } from './clients/tonic.ts';
import type { InteropCase, InteropClient } from './interop-cases.ts';
import { startGoServer } from './go-server.ts';
import { startTestServer } from './test-server.ts';

export interface InteropResult {
  /** What serves. Only Reeve's own client calls the server of grpc-go. */
  readonly engine: 'reeve' | 'grpc-go';
  readonly client: string;
  readonly secure: boolean;
  readonly name: InteropCase;
  /** What went wrong; undefined if the case passed. */
  readonly failure: string | undefined;
}

/** The clients of four implementations, none of which shares its code of HTTP/2 with another, and Reeve's own. */
export const interopClients: readonly InteropClient[] = [
  grpcGoClient,
  grpcioClient,
  tonicClient,
  grpcJsClient,
  reeveClient,
];

/** All cases of one client against Reeve's engine, in plain text and over TLS. */
export async function runInterop(
  client: InteropClient,
  program: string,
  tell: (result: InteropResult) => void,
): Promise<void> {
  const engine = 'reeve';
  for (const secure of [false, true]) {
    const server = await startTestServer(engine, secure);
    await client.run(program, server, (name, failure) => tell({ engine, client: client.name, secure, name, failure }));
    await server.stop();
  }
}

/** All cases of Reeve's own client against the interop server of grpc-go, in plain text and over TLS. */
export async function runAgainstGo(program: string, tell: (result: InteropResult) => void): Promise<void> {
  const { name: client } = reeveClient;
  for (const secure of [false, true]) {
    const server = await startGoServer(program, secure);
    await reeveClient.run('', server, (name, failure) => tell({ engine: 'grpc-go', client, secure, name, failure }));
    await server.stop();
  }
}

import { afterEach } from 'vitest';
import { GrpcServer } from '../grpc-server.ts';
import type { ServerStream, StreamHandler, UnaryHandler } from '../handlers.ts';
import type { Limits } from '../limits.ts';
import { RawClient } from './raw-client.ts';

export interface TestServer {
  readonly server: GrpcServer;
  readonly port: number;
  /** What happened to calls, in order. */
  readonly events: string[];
  /** Opens a client that has sent its preface and these frames; SETTINGS if there are none. */
  client(...first: Uint8Array[]): Promise<RawClient>;
  silentClient(): Promise<RawClient>;
}

let opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

/** Notes how to clean up after the test. */
export function afterwards(close: () => Promise<void> | void): void {
  opened.push(close);
}

export interface TestRoutes {
  readonly unary?: Readonly<Record<string, UnaryHandler>>;
  readonly stream?: Readonly<Record<string, StreamHandler>>;
  readonly limits?: Partial<Limits>;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
}

/**
 * A server with `/t/Echo`, `/t/Trust` (an echo that trusts its caller), `/t/Throw`, `/t/Hang` (never answers) and
 * `/t/Stream` (a stream that echoes).
 */
export async function testServer(routes: TestRoutes = {}): Promise<TestServer> {
  const events: string[] = [];
  const server = new GrpcServer({
    unary: new Map<string, UnaryHandler>([
      ['/t/Echo', (message, call) => call.answer(message)],
      [
        '/t/Trust',
        (message, call) => {
          call.trust();
          call.answer(message);
        },
      ],
      [
        '/t/Throw',
        () => {
          throw new Error('100% wrong: ü');
        },
      ],
      [
        '/t/Hang',
        (_message, call) => {
          events.push('hang');
          call.onCancelled = () => events.push('cancelled');
        },
      ],
      ...Object.entries(routes.unary ?? {}),
    ]),
    stream: new Map<string, StreamHandler>([
      ['/t/Stream', (stream) => echo(stream, events)],
      ...Object.entries(routes.stream ?? {}),
    ]),
    statusOf: (error) => ({ code: 9, message: error instanceof Error ? error.message : String(error) }),
    tls: routes.tls,
    limits: routes.limits ?? {},
  });
  const port = await server.listen('127.0.0.1', 0);
  opened.push(() => server.drain(0));
  const kept = (client: RawClient) => {
    opened.push(() => client.destroy());
    return client;
  };
  return {
    server,
    port,
    events,
    client: async (...first) => kept(await RawClient.open(port, ...first)),
    silentClient: async () => kept(await RawClient.silent(port)),
  };
}

function echo(stream: ServerStream, events: string[]) {
  return {
    message: (message: Uint8Array) => {
      events.push(`message ${message.length}`);
      stream.send(Buffer.from(message));
    },
    ended: () => {
      events.push('ended');
      stream.end();
    },
    drained: () => events.push('drained'),
    closed: () => events.push('closed'),
  };
}

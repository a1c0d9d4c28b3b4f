import { bounds, paths } from '@reeve/contract';
import type {
  Call,
  FindCredential as EngineFindCredential,
  ServerStream,
  UnaryCall,
  StreamHandler as EngineStreamHandler,
  UnaryHandler as EngineUnaryHandler,
} from '@reeve/grpc-server';
import type { Rooms } from '@reeve/grpc-server';
import { GrpcServer } from '@reeve/grpc-server';
import type {
  Encoded,
  FindCredential,
  RpcCall,
  RpcRoutes,
  RpcServer,
  RpcStatus,
  RpcStream,
  StreamHandler,
  UnaryHandler,
} from './rpc.ts';

export interface ReeveEngineOptions {
  readonly routes: RpcRoutes;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly statusOf: (error: unknown) => RpcStatus;
  /** How long a message may take from its first byte to its last. */
  readonly finishWithinMs?: number;
  /** What clients leave unread or unfinished counts here, together with that of other transports. */
  readonly rooms?: Rooms;
}

/** What a call brought back may be longer than anything that is asked. */
const trustedMessageBytes = new Map([[paths.checkResult, bounds.resultMessage]]);

/** The engine of `@reeve/grpc-server`, which has the bounds of connections built in. */
export class ReeveEngineServer implements RpcServer {
  readonly #server: GrpcServer;

  constructor({ routes, tls, statusOf, finishWithinMs, rooms }: ReeveEngineOptions) {
    this.#server = new GrpcServer({
      unary: new Map([...routes.unary].map(([path, handler]) => [path, unaryOf(handler)])),
      stream: new Map([...routes.stream].map(([path, handler]) => [path, streamOf(handler)])),
      statusOf,
      tls,
      rooms,
      limits: {
        messageBytes: bounds.message,
        trustedMessageBytes,
        findCredential: new Map([...(routes.findCredential ?? [])].map(([path, find]) => [path, findOf(find)])),
        ...(finishWithinMs === undefined ? {} : { finishWithinMs }),
      },
    });
  }

  listen(host: string, port: number): Promise<number> {
    return this.#server.listen(host, port);
  }

  drain(graceMs: number): Promise<void> {
    return this.#server.drain(graceMs);
  }
}

function unaryOf(handler: UnaryHandler): EngineUnaryHandler {
  return (message, call) => {
    const answer = handler(message, new EngineCall(call));
    if (answer instanceof Promise) {
      answer.then(
        (encoded) => reply(call, encoded),
        (error: unknown) => call.fail(error),
      );
    } else {
      reply(call, answer);
    }
  };
}

function findOf(find: FindCredential): EngineFindCredential {
  return (begin, call) => find(begin, new EngineCall(call));
}

function reply(call: UnaryCall, encoded: Encoded): void {
  try {
    call.answer(encoded());
  } catch (error) {
    call.fail(error);
  }
}

function streamOf(handler: StreamHandler): EngineStreamHandler {
  return (stream) => handler(new EngineStream(stream), new EngineCall(stream));
}

class EngineStream implements RpcStream {
  readonly #stream: ServerStream;

  constructor(stream: ServerStream) {
    this.#stream = stream;
  }

  get isOpen(): boolean {
    return this.#stream.isOpen;
  }

  open(): void {
    this.#stream.open();
  }

  send(message: Encoded, constant?: Uint8Array): boolean {
    return this.#stream.send(message(), constant);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  end(): void {
    this.#stream.end();
  }

  fail(error: unknown): void {
    this.#stream.fail(error);
  }
}

/** Read on demand, because most calls have neither. */
class EngineCall implements RpcCall {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get authorization(): string | undefined {
    return this.#call.metadata.get('authorization');
  }

  get traceparent(): string | undefined {
    return this.#call.metadata.get('traceparent');
  }

  get credentialShown(): (reader: string) => void {
    return (reader) => this.#call.trust(reader);
  }
}

import { bounds } from '@reeve/contract';
import type {
  Call,
  StreamHandler as EngineStreamHandler,
  UnaryHandler as EngineUnaryHandler,
} from '@reeve/grpc-server';
import { GrpcServer } from '@reeve/grpc-server';
import type { RpcCall, RpcRoutes, RpcServer, RpcStatus, StreamHandler, UnaryHandler } from './rpc.ts';

export interface ReeveEngineOptions {
  readonly routes: RpcRoutes;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly statusOf: (error: unknown) => RpcStatus;
  /** How long a message may take from its first byte to its last. */
  readonly finishWithinMs?: number;
}

/** The engine of `@reeve/grpc-server`, which has the bounds of connections built in. */
export class ReeveEngineServer implements RpcServer {
  readonly #server: GrpcServer;

  constructor({ routes, tls, statusOf, finishWithinMs }: ReeveEngineOptions) {
    this.#server = new GrpcServer({
      unary: new Map([...routes.unary].map(([path, handler]) => [path, unaryOf(handler)])),
      stream: new Map([...routes.stream].map(([path, handler]) => [path, streamOf(handler)])),
      statusOf,
      tls,
      limits: { messageBytes: bounds.message, ...(finishWithinMs === undefined ? {} : { finishWithinMs }) },
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
        (bytes) => call.answer(bytes),
        (error: unknown) => call.fail(error),
      );
    } else {
      call.answer(answer);
    }
  };
}

function streamOf(handler: StreamHandler): EngineStreamHandler {
  return (stream) => handler(stream, new EngineCall(stream));
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

  get credentialShown(): () => void {
    return () => this.#call.trust();
  }
}

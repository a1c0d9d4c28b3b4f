import type { ServerDuplexStream, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import { bounds } from '@reeve/contract';
import { refusals, watchConnections, watchedCallOf } from './grpc-js-internals.ts';
import type { Encoded, RpcCall, RpcRoutes, RpcServer, RpcStatus, StreamHandler, UnaryHandler } from './rpc.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';

export interface GrpcJsOptions {
  readonly routes: RpcRoutes;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly statusOf: (error: unknown) => RpcStatus;
  /** How long a message may take from its first byte to its last. */
  readonly finishWithinMs?: number;
}

const largestMessage = bounds.message;
const longestToFinishMs = 30_000;

/** The engine on `@grpc/grpc-js`. Only this file and `grpc-js-internals.ts` know that library. */
export class GrpcJsServer implements RpcServer {
  readonly #server: Server;
  readonly #options: GrpcJsOptions;
  readonly #unfinished: UnfinishedMessages;

  constructor(options: GrpcJsOptions) {
    this.#options = options;
    this.#unfinished = new UnfinishedMessages({
      finishWithinMs: options.finishWithinMs ?? longestToFinishMs,
      isUnary: (path) => options.routes.unary.has(path),
    });
    this.#server = new Server({
      'grpc.max_receive_message_length': largestMessage,
      'grpc.max_concurrent_streams': 10_000,
      'grpc-node.max_session_memory': 256,
      // An agent whose machine is gone says nothing. Without keepalives its streams would count as open for hours.
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 20_000,
      interceptors: [refusals(this.#unfinished)],
    });
    watchConnections(this.#server, this.#unfinished);
    for (const [path, handler] of options.routes.unary) this.#addUnary(path, handler);
    for (const [path, handler] of options.routes.stream) this.#addStream(path, handler);
  }

  listen(host: string, port: number): Promise<number> {
    const { tls } = this.#options;
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
    const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(target, credentials, (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
  }

  drain(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const force = setTimeout(() => this.#server.forceShutdown(), graceMs);
      this.#server.tryShutdown(() => {
        clearTimeout(force);
        this.#unfinished.close();
        resolve();
      });
    });
  }

  #addUnary(path: string, handler: UnaryHandler): void {
    const { statusOf } = this.#options;
    const handle = (call: ServerUnaryCall<Buffer, Uint8Array>, callback: UnaryCallback) => {
      if (call.cancelled) return;
      try {
        const answer = handler(call.request, this.#callOf(call));
        if (answer instanceof Promise) {
          answer.then(copyOf).then(
            (bytes) => callback(null, bytes),
            (error: unknown) => callback(failure(statusOf(error))),
          );
        } else {
          callback(null, copyOf(answer));
        }
      } catch (error) {
        callback(failure(statusOf(error)));
      }
    };
    this.#add(path, false, handle);
  }

  #addStream(path: string, handler: StreamHandler): void {
    const { statusOf } = this.#options;
    const handle = (call: ServerDuplexStream<Buffer, Uint8Array>) => {
      let over = false;
      let stalled: (() => void) | undefined;
      const readAgain = () => {
        stalled?.();
        stalled = undefined;
      };
      const fail = (error: unknown) => {
        if (!over) call.emit('error', failure(statusOf(error)));
        over = true;
      };
      const stall = () => this.#unfinished.stall(call.getPeer());
      const watched = watchedCallOf(this.#unfinished, call);
      watched?.onRefused(fail);
      const listener = handler(
        {
          get isOpen() {
            return !over && !call.cancelled;
          },
          open() {
            if (this.isOpen) call.sendMetadata(new Metadata());
          },
          send(message, constant) {
            if (!this.isOpen) return false;
            const own = copyOf(message);
            if (call.write(constant === undefined ? own : Buffer.concat([own, constant]))) return true;
            // Backpressure: a client that does not read its answers is not read from, so nothing piles up here.
            call.pause();
            stalled ??= stall();
            return false;
          },
          pause: () => call.pause(),
          resume: () => call.resume(),
          end() {
            if (!over) call.end();
            over = true;
          },
          fail,
        },
        this.#callOf(call),
      );
      call.on('data', (message: Buffer) => {
        watched?.took(message.length);
        try {
          listener.message(message);
        } catch (error) {
          fail(error);
        }
      });
      call.on('end', () => listener.ended());
      call.on('drain', () => {
        readAgain();
        call.resume();
        listener.drained?.();
      });
      call.once('close', () => {
        readAgain();
        listener.closed();
      });
      call.once('cancelled', () => {
        over = true;
        readAgain();
        watched?.answered();
        listener.closed();
      });
    };
    this.#add(path, true, handle);
  }

  /** Read on demand, because most calls have neither. */
  #callOf(call: { readonly metadata: Metadata; getPeer(): string }): RpcCall {
    return {
      get authorization() {
        return only(call.metadata, 'authorization');
      },
      get traceparent() {
        return only(call.metadata, 'traceparent');
      },
      credentialShown: (reader) => this.#unfinished.trust(call.getPeer(), reader),
    };
  }

  #add(path: string, stream: boolean, handle: (...args: never[]) => void): void {
    const passThrough = (bytes: Uint8Array) => bytes as Buffer;
    const definition = {
      path,
      requestStream: stream,
      responseStream: stream,
      requestSerialize: passThrough,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: passThrough,
      responseDeserialize: (bytes: Buffer) => bytes,
    };
    const implementation = { call: handle } as unknown as UntypedServiceImplementation;
    this.#server.addService({ call: definition }, implementation);
  }
}

type UnaryCallback = (error: ReturnType<typeof failure> | null, answer?: Uint8Array) => void;

function failure(status: RpcStatus) {
  return Object.assign(new Error(status.message), { code: status.code, details: status.message });
}

function only(metadata: Metadata, name: string): string | undefined {
  const [value, another] = metadata.get(name);
  return another === undefined && typeof value === 'string' ? value : undefined;
}

/** The library keeps messages until it has sent them. */
function copyOf(message: Encoded): Buffer {
  return Buffer.from(message());
}

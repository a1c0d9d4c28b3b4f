/**
 * What the gateway asks of a gRPC engine: two ways of being called, with messages as bytes. Handlers know nothing of the
 * library behind it, so the engine can be exchanged for a faster one.
 */
export interface RpcCall {
  /** The `authorization` metadata; undefined where there is none or more than one. */
  readonly authorization: string | undefined;
  /** The caller's trace, in the form of W3C trace context. */
  readonly traceparent: string | undefined;
  /** To be told once the caller has shown a valid credential: its connection may then hold more. */
  readonly credentialShown: () => void;
}

/** Answers one message with one. Throws, or rejects, with a `ReeveError` to fail the call. */
export type UnaryHandler = (message: Uint8Array, call: RpcCall) => Uint8Array | Promise<Uint8Array>;

/** The gateway's end of a stream. After `end` or `fail` nothing more is sent. */
export interface RpcStream {
  /** False once it has ended, from whichever side. */
  readonly isOpen: boolean;
  /** Tells the other side that the call was taken, where nothing has been sent yet. */
  open(): void;
  /** Returns whether the other side keeps up; where it does not, `drained` tells when it does again. */
  send(message: Uint8Array): boolean;
  /** No more messages are told, but for some that are on their way, until `resume`. */
  pause(): void;
  resume(): void;
  end(): void;
  fail(error: unknown): void;
}

/** What happens on a stream, as told by the engine. */
export interface StreamListener {
  message(message: Uint8Array): void;
  /** The other side will send no more. */
  ended(): void;
  /** What was sent has left, after a `send` that returned false. */
  drained?(): void;
  /** The stream is gone, however it ended. Told at least once. */
  closed(): void;
}

export type StreamHandler = (stream: RpcStream, call: RpcCall) => StreamListener;

export interface RpcRoutes {
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  readonly stream: ReadonlyMap<string, StreamHandler>;
}

export interface RpcServer {
  /** Listens, and resolves with the port. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new calls, waits for those in flight up to `graceMs`, then closes. */
  drain(graceMs: number): Promise<void>;
}

/** A status of the gRPC protocol. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
}

export function mergeRoutes(...all: readonly RpcRoutes[]): RpcRoutes {
  return {
    unary: new Map(all.flatMap((routes) => [...routes.unary])),
    stream: new Map(all.flatMap((routes) => [...routes.stream])),
  };
}

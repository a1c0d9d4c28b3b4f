/**
 * The gateway's port to a gRPC engine: unary and stream calls, with messages as bytes. Handlers know nothing of the
 * library behind it, so a faster engine can replace it.
 */
export interface RpcCall {
  /** The `authorization` metadata; undefined if there is none or more than one. */
  readonly authorization: string | undefined;
  /** The caller's trace, in the form of W3C trace context. */
  readonly traceparent: string | undefined;
  /**
   * Call it once the caller has shown a valid credential: its connection may then hold more, and what it leaves unread
   * counts for this reader (`readerOf`, `readerOfAgent`).
   */
  readonly credentialShown: (reader: string) => void;
}

/** Writes a message. Its bytes are lent: they hold until another one is written. */
export type Encoded = () => Uint8Array;

/** Answers one message with another. Throws, or rejects with, a `ReeveError` to fail the call. */
export type UnaryHandler = (message: Uint8Array, call: RpcCall) => Encoded | Promise<Encoded>;

/**
 * Looks for a credential in the beginning of a message that is too large for a caller who has shown none. Undefined if more
 * of it must come first.
 */
export type FindCredential = (begin: Uint8Array, call: RpcCall) => boolean | undefined | Promise<boolean>;

/** The gateway's end of a stream. After `end` or `fail` nothing more is sent. */
export interface RpcStream {
  /** False once either side has ended it. */
  readonly isOpen: boolean;
  /** Tells the client that the call was accepted, if nothing has been sent yet. */
  open(): void;
  /**
   * Copies the message, and returns whether the other side keeps up. If it does not, `drained` is called once it does.
   * `constant` is the rest of the message: bytes that never change, which are not copied.
   */
  send(message: Encoded, constant?: Uint8Array): boolean;
  /** Stops messages until `resume`, except some that are already on their way. */
  pause(): void;
  resume(): void;
  end(): void;
  fail(error: unknown): void;
}

/** The events of a stream, called by the engine. */
export interface StreamListener {
  message(message: Uint8Array): void;
  /** The other side will send no more. */
  ended(): void;
  /** What was sent has left. Called after a `send` that returned false. */
  drained?(): void;
  /** The stream is gone, however it ended. Called at least once. */
  closed(): void;
}

export type StreamHandler = (stream: RpcStream, call: RpcCall) => StreamListener;

export interface RpcRoutes {
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  readonly stream: ReadonlyMap<string, StreamHandler>;
  /** For calls with large messages. */
  readonly findCredential?: ReadonlyMap<string, FindCredential>;
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
  /** When a client that retries by itself may do so. */
  readonly retryAfterMs?: number | undefined;
}

export function mergeRoutes(...all: readonly RpcRoutes[]): RpcRoutes {
  return {
    unary: new Map(all.flatMap((routes) => [...routes.unary])),
    stream: new Map(all.flatMap((routes) => [...routes.stream])),
    findCredential: new Map(all.flatMap((routes) => [...(routes.findCredential ?? [])])),
  };
}

/**
 * What the test service needs of a gRPC engine. Messages are bytes. It is the part of `@reeve/grpc-server` that the
 * conformance run uses; an adapter gives `@grpc/grpc-js` the same face, so that calls can be compared.
 */
export interface Engine {
  listen(host: string, port: number): Promise<number>;
}

export interface EngineOptions {
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  readonly stream: ReadonlyMap<string, StreamHandler>;
  readonly statusOf: (error: unknown) => Status;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

export interface Status {
  readonly code: number;
  readonly message: string;
}

export type Entries = readonly (readonly [name: string, value: string | Uint8Array])[];

export interface Call {
  readonly metadata: {
    getAll(name: string): readonly string[];
    getBinary(name: string): readonly Buffer[];
  };
  readonly isOpen: boolean;
  setHeaders(entries: Entries): void;
  setTrailers(entries: Entries): void;
}

export interface UnaryCall extends Call {
  answer(message: Uint8Array): void;
  fail(error: unknown): void;
}

export interface ServerStream extends Call {
  open(): void;
  send(message: Uint8Array): boolean;
  end(): void;
  fail(error: unknown): void;
}

export interface StreamListener {
  message(bytes: Uint8Array): void;
  /** The client has sent all it will send. */
  ended(): void;
  /** The call is over, for whatever reason. */
  closed(): void;
}

export type UnaryHandler = (message: Uint8Array, call: UnaryCall) => void;
export type StreamHandler = (stream: ServerStream) => StreamListener;

export type EngineName = 'reeve' | 'grpc-js';

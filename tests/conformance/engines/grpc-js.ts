import type { ServerDuplexStream, ServerUnaryCall, sendUnaryData, UntypedServiceImplementation } from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import type { Call, Engine, EngineOptions, Entries, StreamHandler, UnaryHandler } from '../engine.ts';

/** The face of an engine on `@grpc/grpc-js`. */
export function grpcJsEngine(options: EngineOptions): Engine {
  const server = new Server({ 'grpc.max_concurrent_streams': 10_000 });
  const add = (path: string, streams: boolean, handle: UntypedServiceImplementation[string]) => {
    server.addService({ [path]: methodOf(path, streams) }, { [path]: handle });
  };
  for (const [path, handler] of options.unary) add(path, false, unaryOf(handler, options));
  for (const [path, handler] of options.stream) add(path, true, streamOf(handler, options));
  return { listen: (host, port) => listen(server, options, `${host}:${port}`) };
}

function methodOf(path: string, streams: boolean) {
  const asIs = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    path,
    requestStream: streams,
    responseStream: streams,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

function listen(server: Server, { tls }: EngineOptions, target: string): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  return new Promise((resolve, reject) => {
    server.bindAsync(target, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
}

function unaryOf(handler: UnaryHandler, { statusOf }: EngineOptions) {
  return (call: ServerUnaryCall<Uint8Array, Uint8Array>, done: sendUnaryData<Uint8Array>) => {
    const { trailers, ...common } = callOf(call);
    const fail = (error: unknown) => done({ ...failureOf(statusOf(error)), metadata: trailers });
    try {
      handler(call.request, { ...common, isOpen: true, answer: (bytes) => done(null, bytes, trailers), fail });
    } catch (error) {
      fail(error);
    }
  };
}

function streamOf(handler: StreamHandler, { statusOf }: EngineOptions) {
  return (call: ServerDuplexStream<Uint8Array, Uint8Array>) => {
    const { trailers, ...common } = callOf(call);
    let over = false;
    const fail = (error: unknown) => {
      if (!over) call.emit('error', { ...failureOf(statusOf(error)), metadata: trailers });
      over = true;
    };
    const listener = handler({
      ...common,
      get isOpen() {
        return !over && !call.cancelled;
      },
      open: () => call.sendMetadata(new Metadata()),
      send: (bytes) => !over && !call.cancelled && call.write(bytes),
      end: () => {
        if (!over) call.end(trailers);
        over = true;
      },
      fail,
    });
    call.on('data', (bytes: Uint8Array) => {
      try {
        listener.message(bytes);
      } catch (error) {
        fail(error);
      }
    });
    call.on('end', () => listener.ended());
    call.on('close', () => {
      over = true;
      listener.closed();
    });
  };
}

type AnyCall = Pick<ServerUnaryCall<Uint8Array, Uint8Array>, 'metadata' | 'sendMetadata'>;

function callOf(call: AnyCall): Omit<Call, 'isOpen'> & { readonly trailers: Metadata } {
  const trailers = new Metadata();
  return {
    metadata: {
      getAll: (name) => call.metadata.get(name).map(String),
      getBinary: (name) => call.metadata.get(name).filter((value) => Buffer.isBuffer(value)),
    },
    setHeaders: (entries) => call.sendMetadata(filled(new Metadata(), entries)),
    setTrailers: (entries) => filled(trailers, entries),
    trailers,
  };
}

function filled(metadata: Metadata, entries: Entries): Metadata {
  for (const [name, value] of entries) metadata.add(name, typeof value === 'string' ? value : Buffer.from(value));
  return metadata;
}

function failureOf({ code, message }: { readonly code: number; readonly message: string }) {
  return { code, details: message };
}

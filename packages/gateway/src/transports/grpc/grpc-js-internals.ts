import type { Server, ServerCredentials, ServerInterceptor } from '@grpc/grpc-js';
import { Metadata } from '@grpc/grpc-js';
import { BaseServerInterceptingCall } from '@grpc/grpc-js/build/src/server-interceptors.js';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { UnfinishedMessages, WatchedCall } from './unfinished-messages.ts';

interface ServerInternals {
  createHttp2Server?: (credentials: ServerCredentials) => Http2Server;
}

interface CallInternals {
  readonly stream: ServerHttp2Stream;
  handleDataFrame: (chunk: Buffer) => void;
  sendMetadata: (metadata: Metadata) => void;
  sendStatus: (status: { code: number; details: string; metadata?: Metadata | null }) => void;
}

/**
 * The library does not expose its connections, so this hooks the creation of its HTTP/2 server. If a version creates it
 * differently, the gateway does not start, rather than run without bounds.
 */
export function watchConnections(server: Server, unfinished: UnfinishedMessages): void {
  const internals = server as unknown as ServerInternals;
  const make = internals.createHttp2Server?.bind(server);
  if (make === undefined) throw new Error('this version of @grpc/grpc-js makes its HTTP/2 server in another way');
  internals.createHttp2Server = (credentials) => {
    const made = make(credentials);
    unfinished.watch(made);
    return made;
  };
}

const acceptEncoding = 'grpc-accept-encoding';

/**
 * The library inflates a message as soon as it has come, and keeps it, so a few bytes would hold megabytes. So calls
 * see nothing of a refused message, and answers say that messages must be uncompressed.
 */
export function refusals(unfinished: UnfinishedMessages): ServerInterceptor {
  if (!('handleDataFrame' in BaseServerInterceptingCall.prototype)) {
    throw new Error('this version of @grpc/grpc-js reads messages in another way');
  }
  return (_method, intercepted) => {
    const call = intercepted as unknown as CallInternals;
    const watched = unfinished.callOf(call.stream);
    const handleDataFrame = call.handleDataFrame.bind(call);
    const sendMetadata = call.sendMetadata.bind(call);
    const sendStatus = call.sendStatus.bind(call);
    // An unwatched call is not read.
    call.handleDataFrame = (chunk) => {
      if (watched?.isRefused === false) handleDataFrame(chunk);
    };
    call.sendMetadata = (metadata) => {
      metadata.set(acceptEncoding, 'identity');
      sendMetadata(metadata);
    };
    call.sendStatus = (status) =>
      sendStatus(watched?.isRefused === true ? { ...status, metadata: identity() } : status);
    watched?.onRefused(({ code, message }) => {
      call.sendStatus({ code, details: message });
      watched.answered();
    });
    return intercepted as ReturnType<ServerInterceptor>;
  };
}

function identity(): Metadata {
  const metadata = new Metadata();
  metadata.set(acceptEncoding, 'identity');
  return metadata;
}

/** The watched call behind the handler of a stream. */
export function watchedCallOf(unfinished: UnfinishedMessages, call: object): WatchedCall | undefined {
  const { stream } = (call as { readonly call: CallInternals }).call;
  return unfinished.callOf(stream);
}

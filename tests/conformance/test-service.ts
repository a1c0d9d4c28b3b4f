import { setTimeout as pause } from 'node:timers/promises';
import type { Call, EngineOptions, ServerStream, Status, StreamHandler, UnaryHandler } from './engine.ts';
import type { CallRequest } from './test-messages.ts';
import { readBody, readCallRequest, writeAggregatedSize, writeBody } from './test-messages.ts';

export const initialEcho = 'x-grpc-test-echo-initial';
export const trailingEcho = 'x-grpc-test-echo-trailing-bin';
export const servicePath = '/grpc.testing.TestService';

/** Not of the gRPC project: see `anyContent`. */
export const anyContentPath = '/reeve.testing.ConformanceService/AnyContent';

const unknown = 2;

/** The failure that a request asks for. */
class AskedFailure extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message);
    this.status = status;
  }
}

const emptyCall: UnaryHandler = (_, call) => call.answer(new Uint8Array());

const unaryCall: UnaryHandler = (bytes, call) => {
  echoMetadata(call);
  const { status, responseSize } = readCallRequest(bytes);
  if (isFailure(status)) call.fail(new AskedFailure(status));
  else call.answer(writeBody(responseSize));
};

/** Answers requests one after the other: a response may ask for a pause before it. */
const streamingOutput: StreamHandler = (stream) => {
  echoMetadata(stream);
  let last = Promise.resolve();
  return {
    message: (bytes) => {
      // The bytes are only valid during this call.
      const request = readCallRequest(bytes);
      last = last.then(() => respond(stream, request));
    },
    ended: () => {
      last = last.then(() => (stream.isOpen ? stream.end() : undefined));
    },
    closed: () => {},
  };
};

async function respond(stream: ServerStream, { responses, status }: CallRequest): Promise<void> {
  if (isFailure(status)) stream.fail(new AskedFailure(status));
  for (const { size, intervalMicros } of responses) {
    if (intervalMicros > 0) await pause(intervalMicros / 1000);
    if (!stream.isOpen) return;
    stream.send(writeBody(size));
  }
}

const streamingInput: StreamHandler = (stream) => {
  let size = 0;
  return {
    message: (bytes) => {
      size += readBody(bytes).length;
    },
    ended: () => {
      stream.send(writeAggregatedSize(size));
      stream.end();
    },
    closed: () => {},
  };
};

/** One answer to a request of any content, once it has ended: what h2spec sends holds no message of gRPC. */
const anyContent: StreamHandler = (stream) => ({
  message: () => {},
  ended: () => {
    stream.send(writeBody(16));
    stream.end();
  },
  closed: () => {},
});

function echoMetadata(call: Call): void {
  const initial = call.metadata.getAll(initialEcho);
  const trailing = call.metadata.getBinary(trailingEcho);
  if (initial.length > 0) call.setHeaders(initial.map((value) => [initialEcho, value]));
  if (trailing.length > 0) call.setTrailers(trailing.map((value) => [trailingEcho, value]));
}

function isFailure(status: CallRequest['status']): status is Status {
  return status !== undefined && status.code !== 0;
}

/** The service that the interop clients of the gRPC project call. */
export const testService: Omit<EngineOptions, 'tls'> = {
  unary: new Map([
    [`${servicePath}/EmptyCall`, emptyCall],
    [`${servicePath}/UnaryCall`, unaryCall],
  ]),
  stream: new Map([
    [`${servicePath}/StreamingOutputCall`, streamingOutput],
    [`${servicePath}/StreamingInputCall`, streamingInput],
    [`${servicePath}/FullDuplexCall`, streamingOutput],
    [anyContentPath, anyContent],
  ]),
  statusOf: (error) =>
    error instanceof AskedFailure
      ? error.status
      : { code: unknown, message: error instanceof Error ? error.message : String(error) },
};

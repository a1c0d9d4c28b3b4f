import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { CallOptions, Client, ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { Metadata, status } from '@grpc/grpc-js';
import type { InteropCase } from '../interop-cases.ts';
import { sizes, specialMessage } from '../interop-cases.ts';
import { readAggregatedSize, readBody, writeBody, writeCallRequest } from '../test-messages.ts';
import { initialEcho, servicePath, trailingEcho } from '../test-service.ts';

type Duplex = ClientDuplexStream<Uint8Array, Uint8Array>;

interface Answer {
  readonly message: Uint8Array;
  readonly initial: Metadata;
  readonly trailing: Metadata;
}

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const nothing = new Uint8Array();

export const grpcJsCases: Readonly<Record<InteropCase, (client: Client) => Promise<void>>> = {
  empty_unary: async (client) => {
    const { message } = await unary(client, `${servicePath}/EmptyCall`, nothing);
    assert.equal(message.length, 0);
  },
  large_unary: async (client) => {
    const { message } = await unary(client, `${servicePath}/UnaryCall`, largeRequest());
    assert.equal(readBody(message).length, sizes.largeResponse);
  },
  client_streaming: async (client) => {
    const answer = await inputCall(client, (call) => {
      for (const size of sizes.requests) call.write(writeBody(size));
      call.end();
    });
    assert.equal(readAggregatedSize(answer), 74_922);
  },
  server_streaming: async (client) => {
    const request = writeCallRequest({ responses: sizes.responses.map((size) => ({ size, intervalMicros: 0 })) });
    const call = client.makeServerStreamRequest(`${servicePath}/StreamingOutputCall`, asIs, asIs, request);
    const seen: number[] = [];
    for await (const message of call) seen.push(readBody(message as Uint8Array).length);
    assert.deepEqual(seen, sizes.responses);
  },
  ping_pong: async (client) => {
    const call = duplex(client);
    for (const [at, size] of sizes.responses.entries()) {
      call.write(writeCallRequest({ responses: [{ size, intervalMicros: 0 }] }, sizes.requests[at]));
      assert.equal(readBody(await next(call)).length, size);
    }
    await finished(call);
  },
  empty_stream: (client) => finished(duplex(client)),
  timeout_on_sleeping_server: async (client) => {
    const call = duplex(client, new Metadata(), { deadline: Date.now() + 50 });
    const failed = failureOf(call);
    call.write(writeCallRequest({ responses: [{ size: 9, intervalMicros: 500_000 }] }, 27_182));
    assert.equal((await failed).code, status.DEADLINE_EXCEEDED);
  },
  cancel_after_begin: async (client) => {
    const failed = inputCall(client, (call) => call.cancel());
    await assert.rejects(failed, { code: status.CANCELLED });
  },
  cancel_after_first_response: async (client) => {
    const call = duplex(client);
    call.write(writeCallRequest({ responses: [{ size: 31_415, intervalMicros: 0 }] }, 27_182));
    assert.equal(readBody(await next(call)).length, 31_415);
    const failed = failureOf(call);
    call.cancel();
    assert.equal((await failed).code, status.CANCELLED);
  },
  status_code_and_message: async (client) => {
    const asked = writeCallRequest({ status: { code: status.UNKNOWN, message: 'test status message' } });
    const wanted = { code: status.UNKNOWN, details: 'test status message' };
    await assert.rejects(unary(client, `${servicePath}/UnaryCall`, asked), wanted);
    const call = duplex(client);
    const failed = failureOf(call);
    call.write(asked);
    call.end();
    const { code, details } = await failed;
    assert.deepEqual({ code, details }, wanted);
  },
  special_status_message: async (client) => {
    const asked = writeCallRequest({ status: { code: status.UNKNOWN, message: specialMessage } });
    const wanted = { code: status.UNKNOWN, details: specialMessage };
    await assert.rejects(unary(client, `${servicePath}/UnaryCall`, asked), wanted);
  },
  custom_metadata: async (client) => {
    expectEchoed(await unary(client, `${servicePath}/UnaryCall`, largeRequest(), ownMetadata()));
    const call = duplex(client, ownMetadata());
    const headers = once(call, 'metadata') as Promise<[Metadata]>;
    const ended = once(call, 'status') as Promise<[{ metadata: Metadata }]>;
    call.write(writeCallRequest({ responses: [{ size: 314_159, intervalMicros: 0 }] }, 271_828));
    assert.equal(readBody(await next(call)).length, 314_159);
    call.end();
    call.resume();
    const [[initial], [{ metadata: trailing }]] = await Promise.all([headers, ended]);
    expectEchoed({ initial, trailing });
  },
  unimplemented_method: (client) =>
    assert.rejects(unary(client, `${servicePath}/UnimplementedCall`, nothing), { code: status.UNIMPLEMENTED }),
  unimplemented_service: (client) =>
    assert.rejects(unary(client, '/grpc.testing.UnimplementedService/UnimplementedCall', nothing), {
      code: status.UNIMPLEMENTED,
    }),
};

function largeRequest(): Uint8Array {
  return writeCallRequest({ responseSize: sizes.largeResponse }, sizes.largeRequest);
}

function ownMetadata(): Metadata {
  const metadata = new Metadata();
  metadata.set(initialEcho, 'test_initial_metadata_value');
  metadata.set(trailingEcho, Buffer.from('ababab', 'hex'));
  return metadata;
}

function expectEchoed({ initial, trailing }: Pick<Answer, 'initial' | 'trailing'>): void {
  assert.deepEqual(initial.get(initialEcho), ['test_initial_metadata_value']);
  assert.deepEqual(trailing.get(trailingEcho), [Buffer.from('ababab', 'hex')]);
}

function unary(client: Client, path: string, request: Uint8Array, metadata = new Metadata()): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let message: Uint8Array = nothing;
    let [initial, trailing] = [new Metadata(), new Metadata()];
    const call = client.makeUnaryRequest(path, asIs, asIs, request, metadata, (error, answer) => {
      if (error === null) message = answer ?? nothing;
      else reject(error);
    });
    call.on('metadata', (received) => {
      initial = received;
    });
    // The status is told after the answer.
    call.on('status', (ended) => {
      trailing = ended.metadata;
      setImmediate(() => resolve({ message, initial, trailing }));
    });
  });
}

function inputCall(
  client: Client,
  send: (call: ReturnType<Client['makeClientStreamRequest']>) => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const path = `${servicePath}/StreamingInputCall`;
    const call = client.makeClientStreamRequest(path, asIs, asIs, (error, answer) => {
      if (error === null) resolve(answer ?? nothing);
      else reject(error);
    });
    send(call as ReturnType<Client['makeClientStreamRequest']>);
  });
}

function duplex(client: Client, metadata = new Metadata(), options: CallOptions = {}): Duplex {
  return client.makeBidiStreamRequest(`${servicePath}/FullDuplexCall`, asIs, asIs, metadata, options);
}

async function next(call: Duplex): Promise<Uint8Array> {
  for (;;) {
    const message = call.read() as Uint8Array | null;
    if (message !== null) return message;
    await once(call, 'readable');
  }
}

/** Ends the call, and waits until the server has ended it with nothing more. */
async function finished(call: Duplex): Promise<void> {
  const ended = once(call, 'status') as Promise<[{ code: number }]>;
  call.end();
  let more = 0;
  call.on('data', () => more++);
  const [{ code }] = await ended;
  assert.deepEqual({ code, more }, { code: status.OK, more: 0 });
}

async function failureOf(call: Duplex): Promise<ServiceError> {
  const [error] = (await once(call, 'error')) as [ServiceError];
  return error;
}

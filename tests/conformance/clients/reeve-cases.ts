import assert from 'node:assert/strict';
import type { CallOptions, CallStatus, ClientStream, GrpcClient, Metadata } from '@reeve/grpc-server/client';
import { statusCode } from '@reeve/grpc-server/client';
import type { InteropCase } from '../interop-cases.ts';
import { sizes, specialMessage } from '../interop-cases.ts';
import { readAggregatedSize, readBody, writeBody, writeCallRequest } from '../test-messages.ts';
import { initialEcho, servicePath, trailingEcho } from '../test-service.ts';

/** A call with all that came back. */
interface Call extends ClientStream {
  next(): Promise<Buffer>;
  readonly initial: Metadata | undefined;
  readonly ended: Promise<CallStatus>;
}

const nothing = Buffer.alloc(0);

export const reeveCases: Readonly<Record<InteropCase, (client: GrpcClient) => Promise<void>>> = {
  empty_unary: async (client) => {
    assert.equal((await unary(client, 'EmptyCall', nothing)).answer?.length, 0);
  },
  large_unary: async (client) => {
    const { answer } = await unary(client, 'UnaryCall', largeRequest());
    assert.equal(readBody(answer ?? nothing).length, sizes.largeResponse);
  },
  client_streaming: async (client) => {
    const call = open(client, 'StreamingInputCall');
    for (const size of sizes.requests) call.send(writeBody(size));
    call.end();
    assert.equal(readAggregatedSize(await call.next()), 74_922);
    assert.equal((await call.ended).code, statusCode.ok);
  },
  server_streaming: async (client) => {
    const call = open(client, 'StreamingOutputCall');
    call.send(writeCallRequest({ responses: sizes.responses.map((size) => ({ size, intervalMicros: 0 })) }));
    call.end();
    for (const size of sizes.responses) assert.equal(readBody(await call.next()).length, size);
    assert.equal((await call.ended).code, statusCode.ok);
  },
  ping_pong: async (client) => {
    const call = open(client, 'FullDuplexCall');
    for (const [at, size] of sizes.responses.entries()) {
      call.send(writeCallRequest({ responses: [{ size, intervalMicros: 0 }] }, sizes.requests[at]));
      assert.equal(readBody(await call.next()).length, size);
    }
    call.end();
    assert.equal((await call.ended).code, statusCode.ok);
  },
  empty_stream: async (client) => {
    const call = open(client, 'FullDuplexCall');
    call.end();
    assert.equal((await call.ended).code, statusCode.ok);
  },
  timeout_on_sleeping_server: async (client) => {
    const call = open(client, 'FullDuplexCall', { timeoutMs: 50 });
    call.send(writeCallRequest({ responses: [{ size: 9, intervalMicros: 500_000 }] }, 27_182));
    assert.equal((await call.ended).code, statusCode.deadlineExceeded);
  },
  cancel_after_begin: async (client) => {
    const call = open(client, 'StreamingInputCall');
    call.cancel();
    assert.equal((await call.ended).code, statusCode.cancelled);
  },
  cancel_after_first_response: async (client) => {
    const call = open(client, 'FullDuplexCall');
    call.send(writeCallRequest({ responses: [{ size: 31_415, intervalMicros: 0 }] }, 27_182));
    assert.equal(readBody(await call.next()).length, 31_415);
    call.cancel();
    assert.equal((await call.ended).code, statusCode.cancelled);
  },
  status_code_and_message: async (client) => {
    const wanted = { code: statusCode.unknown, message: 'test status message' };
    const asked = writeCallRequest({ status: wanted });
    expectStatus((await unary(client, 'UnaryCall', asked)).status, wanted);
    const call = open(client, 'FullDuplexCall');
    call.send(asked);
    call.end();
    expectStatus(await call.ended, wanted);
  },
  special_status_message: async (client) => {
    const wanted = { code: statusCode.unknown, message: specialMessage };
    expectStatus((await unary(client, 'UnaryCall', writeCallRequest({ status: wanted }))).status, wanted);
  },
  custom_metadata: async (client) => {
    const metadata = [
      [initialEcho, 'test_initial_metadata_value'],
      [trailingEcho, Buffer.from('ababab', 'hex')],
    ] as const;
    for (const [method, request] of [
      ['UnaryCall', largeRequest()],
      ['FullDuplexCall', writeCallRequest({ responses: [{ size: 314_159, intervalMicros: 0 }] }, 271_828)],
    ] as const) {
      const call = open(client, method, { metadata });
      call.send(request);
      call.end();
      assert.equal(readBody(await call.next()).length, 314_159);
      const ended = await call.ended;
      assert.equal(call.initial?.get(initialEcho), 'test_initial_metadata_value');
      assert.deepEqual(ended.metadata.getBinary(trailingEcho), [Buffer.from('ababab', 'hex')]);
    }
  },
  unimplemented_method: async (client) => {
    assert.equal((await unary(client, 'UnimplementedCall', nothing)).status.code, statusCode.unimplemented);
  },
  unimplemented_service: async (client) => {
    const call = open(client, '../grpc.testing.UnimplementedService/UnimplementedCall');
    call.end();
    assert.equal((await call.ended).code, statusCode.unimplemented);
  },
};

function largeRequest(): Uint8Array {
  return writeCallRequest({ responseSize: sizes.largeResponse }, sizes.largeRequest);
}

function expectStatus({ code, message }: CallStatus, wanted: { code: number; message: string }): void {
  assert.deepEqual({ code, message }, wanted);
}

function pathOf(method: string): string {
  return method.startsWith('../') ? method.slice(2) : `${servicePath}/${method}`;
}

function unary(client: GrpcClient, method: string, request: Uint8Array) {
  return new Promise<{ status: CallStatus; answer: Buffer | undefined }>((resolve) => {
    client.unary(pathOf(method), request, {}, (status, answer) => resolve({ status, answer }));
  });
}

function open(client: GrpcClient, method: string, options: CallOptions = {}): Call {
  const messages: Buffer[] = [];
  let initial: Metadata | undefined;
  let wake = () => {};
  let stream: ClientStream | undefined;
  const ended = new Promise<CallStatus>((resolve) => {
    stream = client.stream(pathOf(method), options, {
      opened: (metadata) => (initial = metadata),
      message: (message) => {
        messages.push(Buffer.from(message));
        wake();
      },
      ended: (status) => {
        resolve(status);
        wake();
      },
    });
  });
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    send: (message) => stream?.send(message),
    end: () => stream?.end(),
    cancel: (status) => stream?.cancel(status),
    next: async () => {
      for (;;) {
        const message = messages.shift();
        if (message !== undefined) return message;
        if (isOver) throw new Error('the call ended before its message');
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    get initial() {
      return initial;
    },
    ended,
  };
}

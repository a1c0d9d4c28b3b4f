import { readFileSync } from 'node:fs';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { Client, compressionAlgorithms, credentials } from '@grpc/grpc-js';
import { CheckActionRequest, HealthCheckRequest, HealthCheckResponse, paths } from '@reeve/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, checkRequest, TestGateway } from '../harness/gateway.ts';

const mebibyte = 1024 * 1024;
const unimplemented = '12';
const takesIdentity = expect.stringMatching(/takes no compressed messages.*identity/);

let gateway: TestGateway;
let session: ClientHttp2Session | undefined;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());
afterEach(() => session?.destroy());

function framed(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** A new connection that has shown no credential yet. */
function stranger(): ClientHttp2Session {
  session = connect(`http://${gateway.grpc}`);
  session.on('error', () => undefined);
  return session;
}

/** A call that is left open: its answer, and whether it is over. */
class OpenCall {
  readonly stream;
  answer: IncomingHttpHeaders = {};
  bytes = 0;
  isOver = false;

  constructor(connection: ClientHttp2Session, path: string, headers: Record<string, string> = {}) {
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    this.stream = connection.request({ ...head, ...headers }, { endStream: false });
    this.stream.on('error', () => undefined);
    this.stream.on('data', (chunk: Buffer) => (this.bytes += chunk.length));
    for (const event of ['response', 'trailers'] as const) {
      this.stream.on(event, (answer: IncomingHttpHeaders) => (this.answer = { ...this.answer, ...answer }));
    }
    this.stream.once('close', () => (this.isOver = true));
  }

  get status(): { code: unknown; message: string } {
    const { 'grpc-status': code, 'grpc-message': message } = this.answer;
    return { code, message: decodeURIComponent(String(message)) };
  }
}

const gzip = { 'grpc-encoding': 'gzip' };

function resident(): number {
  const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

describe('compressed messages', () => {
  test.each([paths.checkAction, paths.checkStream])(
    'of %s are refused before anything is inflated, and hold no memory',
    async (path) => {
      const connection = stranger();
      const bomb = framed(gzipSync(Buffer.alloc(4 * mebibyte - 64), { level: 9 }), 1);
      const before = resident();
      const calls = Array.from({ length: 60 }, () => new OpenCall(connection, path, gzip));
      for (const call of calls) call.stream.write(bomb);
      await eventually(() => expect(calls.every(({ answer }) => 'grpc-status' in answer)).toBe(true));
      for (const call of calls) {
        expect(call.status).toEqual({ code: unimplemented, message: takesIdentity });
        expect(call.answer['grpc-accept-encoding']).toBe('identity');
      }
      expect(resident() - before).toBeLessThan(64 * mebibyte);
      await eventually(() => expect(calls.every(({ isOver }) => isOver)).toBe(true));
    },
  );

  test('are refused as soon as they begin', async () => {
    const connection = stranger();
    const call = new OpenCall(connection, paths.checkAction, gzip);
    call.stream.write(Buffer.from([1]));
    await eventually(() => expect(call.status).toEqual({ code: unimplemented, message: takesIdentity }));
  });

  test('are refused to whoever has shown a credential, too', async () => {
    const connection = stranger();
    const agent = await gateway.register({ agentId: 'trusted' });
    const message = CheckActionRequest.encode(checkRequest(agent)).finish();
    const plain = new OpenCall(connection, paths.checkAction, gzip);
    plain.stream.end(framed(message));
    // Naming an encoding is allowed as long as the message is not compressed.
    await eventually(() => expect(plain.answer['grpc-status']).toBe('0'));
    expect(plain.answer['grpc-accept-encoding']).toBe('identity');
    const compressed = new OpenCall(connection, paths.checkAction, gzip);
    compressed.stream.end(framed(gzipSync(message), 1));
    await eventually(() => expect(compressed.status).toEqual({ code: unimplemented, message: takesIdentity }));
  });

  test('end a stream that has been answered before, with the same words', async () => {
    const connection = stranger();
    const call = new OpenCall(connection, paths.healthWatch, gzip);
    const message = HealthCheckRequest.encode({ service: '' }).finish();
    call.stream.write(framed(message));
    await eventually(() => expect(call.bytes).toBeGreaterThan(0));
    const answered = call.bytes;
    call.stream.write(framed(gzipSync(message), 1));
    await eventually(() => expect(call.status).toEqual({ code: unimplemented, message: takesIdentity }));
    expect(call.bytes).toBe(answered);
    await eventually(() => expect(call.isOver).toBe(true));
  });

  test('of a client of the library that compresses are refused with the status', async () => {
    const client = new Client(gateway.grpc, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    });
    const call = new Promise((resolve, reject) => {
      const message = Buffer.from(HealthCheckRequest.encode({ service: '' }).finish());
      const same = (bytes: Buffer) => bytes;
      client.makeUnaryRequest(paths.healthCheck, same, same, message, (error, answer) => {
        if (error === null) resolve(answer);
        else reject(error);
      });
    });
    await expect(call).rejects.toMatchObject({ code: 12, details: takesIdentity });
    client.close();
  });
});

test('a second message of a unary call ends it as soon as it begins', async () => {
  const connection = stranger();
  const calls = Array.from({ length: 60 }, () => new OpenCall(connection, paths.checkAction));
  for (const call of calls) call.stream.write(Buffer.from([0, 0, 0, 0, 2, 0x12]));
  // The gateway counts the first message once it has seen a part of it.
  await gateway.client.call(paths.healthCheck, HealthCheckRequest, HealthCheckResponse, { service: '' });
  const second = Buffer.from([0, 0, 0x3f, 0xff, 0xf0]);
  for (const call of calls) call.stream.write(Buffer.concat([Buffer.from([0]), second]));
  await eventually(() => expect(calls.every(({ isOver }) => isOver)).toBe(true));
  for (const call of calls) {
    expect(call.status).toEqual({ code: unimplemented, message: expect.stringContaining('one message') });
  }
});

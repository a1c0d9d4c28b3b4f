import type { ServerDuplexStream, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { testClient } from '../testkit/test-client.ts';
import { afterwards, testServer } from '../testkit/test-server.ts';

const same = (bytes: Buffer) => bytes;
const codec = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const wrong = '100% wrong: ü';

type Unary = ServerUnaryCall<Buffer, Buffer>;

/** The same methods by the library, whose server shares nothing with this package. */
async function libraryServer(): Promise<{ port: number; events: string[] }> {
  const events: string[] = [];
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  const unary = (path: string) => ({ path, requestStream: false, responseStream: false, ...codec });
  const service = {
    echo: unary('/t/Echo'),
    large: unary('/t/Large'),
    fail: unary('/t/Throw'),
    hang: unary('/t/Hang'),
    mirror: unary('/t/Mirror'),
    stream: { path: '/t/Stream', requestStream: true, responseStream: true, ...codec },
  };
  server.addService(service, {
    echo: ({ request }: Unary, done: sendUnaryData<Buffer>) => done(null, request),
    large: (_: Unary, done: sendUnaryData<Buffer>) => done(null, Buffer.alloc(4 * 1024 * 1024 + 1)),
    fail: (_: Unary, done: sendUnaryData<Buffer>) => done({ code: status.FAILED_PRECONDITION, details: wrong }),
    hang: (call: Unary) => {
      events.push('hang');
      call.on('cancelled', () => events.push('cancelled'));
    },
    mirror: (call: Unary, done: sendUnaryData<Buffer>) => {
      const headers = new Metadata();
      headers.set('text', String(call.metadata.get('text')[0]));
      call.sendMetadata(headers);
      const back = new Metadata();
      back.set('some-bin', call.metadata.get('some-bin')[0] ?? Buffer.alloc(0));
      done(null, call.request, back);
    },
    stream: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (bytes: Buffer) => {
        if (!call.write(bytes)) call.pause();
      });
      call.on('drain', () => call.resume());
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  afterwards(() => server.forceShutdown());
  return { port, events };
}

function engineServer() {
  return testServer({
    unary: {
      '/t/Large': (_message, call) => call.answer(Buffer.alloc(4 * 1024 * 1024 + 1)),
      '/t/Mirror': (message, call) => {
        call.setHeaders([['text', call.metadata.get('text') ?? '']]);
        call.setTrailers([['some-bin', call.metadata.getBinary('some-bin')[0] ?? Buffer.alloc(0)]]);
        call.answer(message);
      },
    },
  });
}

describe.each([
  ['the engine', engineServer],
  ['grpc-js', libraryServer],
])('calls to %s', (_, start) => {
  test.each([0, 1, 16_379, 16_380, 65_530, 200_000, 3_000_000])(
    'carry messages of %i bytes both ways',
    async (size) => {
      const { port } = await start();
      const { call } = testClient({ address: `localhost:${port}` });
      const message = Buffer.alloc(size, 'abc');
      const { code, answer } = await call('/t/Echo', message);
      expect([code, answer?.equals(message)]).toEqual([0, true]);
    },
  );

  test('fail with the status that the server gives', async () => {
    const { port } = await start();
    const { call } = testClient({ address: `127.0.0.1:${port}` });
    const [failed, none, large] = await Promise.all([call('/t/Throw'), call('/t/None'), call('/t/Large')]);
    expect(failed).toMatchObject({ code: 9, message: wrong, answer: undefined });
    expect(none).toMatchObject({ code: 12 });
    expect(large).toMatchObject({ code: 8, message: 'Received message larger than max (4194305 vs 4194304)' });
    expect(await call('/t/Echo')).toMatchObject({ code: 0 });
  });

  test('may take longer messages where one call asks for it', async () => {
    const { port } = await start();
    const { call } = testClient({ address: `127.0.0.1:${port}` });
    const [longer, usual] = await Promise.all([
      call('/t/Large', undefined, { messageBytes: 5 * 1024 * 1024 }),
      call('/t/Large'),
    ]);
    expect(longer).toMatchObject({ code: 0 });
    expect(longer.answer?.length).toBe(4 * 1024 * 1024 + 1);
    expect(usual).toMatchObject({ code: 8 });
  });

  test('carry metadata, of bytes as well, and refuse what is none', async () => {
    const { port } = await start();
    const { client, call } = testClient({ address: `127.0.0.1:${port}` });
    const bytes = Buffer.from([0, 255, 1]);
    const metadata = [
      ['text', 'a b'],
      ['some-bin', bytes],
    ] as const;
    const { code, status: end } = await call('/t/Mirror', Buffer.alloc(0), { metadata });
    expect([code, end.metadata.getBinary('some-bin')[0]?.equals(bytes)]).toEqual([0, true]);
    let text: string | undefined;
    await new Promise<void>((resolve) => {
      const listener = { message: () => {}, ended: () => resolve() };
      const stream = client.stream(
        '/t/Mirror',
        { metadata },
        { ...listener, opened: (head) => (text = head.get('text')) },
      );
      stream.send(Buffer.alloc(0));
      stream.end();
    });
    expect(text).toBe('a b');
    expect(() => client.stream('/t/Echo', { metadata: [['text', 'a\r\nb']] }, listenerOfNothing)).toThrow(TypeError);
  });

  test('end at their deadline, and the server hears of it', async () => {
    const { port, events } = await start();
    const { client, call } = testClient({ address: `127.0.0.1:${port}` });
    // The time to connect is not in question here.
    await call('/t/Echo', Buffer.alloc(0));
    // Both ends count the time. On a busy machine the engine may be the first to say so, in its own words.
    expect(await call('/t/Hang', undefined, { timeoutMs: 50 })).toMatchObject({
      code: 4,
      message: expect.stringMatching(/^(Deadline exceeded|the deadline has passed)$/),
    });
    await expect.poll(() => events.slice(0, 2)).toEqual(['hang', 'cancelled']);
    let outcome: number | undefined;
    const hanging = client.unary('/t/Hang', Buffer.alloc(0), {}, ({ code }) => (outcome = code));
    await expect.poll(() => events.length).toBe(3);
    hanging.cancel();
    expect(outcome).toBeUndefined();
    await expect.poll(() => [outcome, events[3]]).toEqual([1, 'cancelled']);
  });

  test('stream both ways, more than any window holds', async () => {
    const { port } = await start();
    const { client } = testClient({ address: `127.0.0.1:${port}` });
    const message = Buffer.alloc(30_000, 'x');
    const sent = 200;
    const heard: string[] = [];
    let received = 0;
    const code = await new Promise<number>((resolve) => {
      const stream = client.stream(
        '/t/Stream',
        {},
        {
          opened: () => heard.push('opened'),
          message: (bytes) => {
            if (!bytes.equals(message)) heard.push('wrong');
            if (++received === sent) stream.end();
          },
          ended: (status) => resolve(status.code),
        },
      );
      for (let i = 0; i < sent; i++) stream.send(message);
    });
    expect([code, received, heard]).toEqual([0, sent, ['opened']]);
  });
});

const listenerOfNothing = { message: () => {}, ended: () => {} };

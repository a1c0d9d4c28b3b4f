import type { ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test, vi } from 'vitest';
import type { UnaryCall } from './handlers.ts';
import type { TestRoutes } from './testkit/test-server.ts';
import { afterwards, testServer } from './testkit/test-server.ts';

const same = (bytes: Buffer) => bytes;

async function world(routes: TestRoutes = {}, options = {}) {
  const here = await testServer(routes);
  const client = new Client(`127.0.0.1:${here.port}`, credentials.createInsecure(), options);
  afterwards(() => client.close());
  return { ...here, grpc: client };
}

interface Outcome {
  readonly error: ServiceError | null;
  readonly answer: Buffer | undefined;
}

function unary(
  client: Client,
  path: string,
  message: Buffer,
  metadata = new Metadata(),
  options = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, same, same, message, metadata, options, (error, answer) =>
      resolve({ error, answer }),
    );
  });
}

describe('a unary call', () => {
  test.each([0, 1, 100, 16_379, 16_384, 65_535, 200_000, 4 * 1024 * 1024 - 5])(
    'gets back a message of %i bytes',
    async (length) => {
      const { grpc } = await world();
      const message = Buffer.alloc(length, 'message ');
      const { error, answer } = await unary(grpc, '/t/Echo', message, undefined, {});
      expect(error).toBeNull();
      expect(answer?.equals(message)).toBe(true);
    },
  );

  test('goes on beside a thousand others on one connection', async () => {
    const { grpc } = await world();
    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, n) => unary(grpc, '/t/Echo', Buffer.from(`call ${n}`))),
    );
    expect(all.map(({ answer }) => answer?.toString())).toEqual(all.map((_, n) => `call ${n}`));
  });

  test('is answered later, when the handler has the answer', async () => {
    const waiting: UnaryCall[] = [];
    const { grpc } = await world({ unary: { '/t/Later': (_message, call) => waiting.push(call) } });
    const answers = [unary(grpc, '/t/Later', Buffer.alloc(1)), unary(grpc, '/t/Later', Buffer.alloc(1))];
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    for (const call of waiting.reverse()) call.answer(Buffer.from('late'));
    for (const answer of answers) expect((await answer).answer?.toString()).toBe('late');
    expect(waiting[0]?.isOpen).toBe(false);
  });

  test('that throws has the status of its error, with any text', async () => {
    const { grpc } = await world();
    const { error } = await unary(grpc, '/t/Throw', Buffer.alloc(0));
    expect(error).toMatchObject({ code: 9, details: '100% wrong: ü' });
  });

  test('of an unknown method is unimplemented', async () => {
    const { grpc } = await world();
    const { error } = await unary(grpc, '/t/Unknown', Buffer.alloc(70_000));
    expect(error).toMatchObject({ code: status.UNIMPLEMENTED, details: 'there is no method /t/Unknown' });
  });

  test('over 4 MiB is refused', async () => {
    const { grpc } = await world();
    const { error } = await unary(grpc, '/t/Echo', Buffer.alloc(4 * 1024 * 1024 + 1));
    expect(error?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect((await unary(grpc, '/t/Echo', Buffer.from('next'))).answer?.toString()).toBe('next');
  });

  test('with compressed messages is unimplemented, and hears what is taken', async () => {
    const { grpc } = await world({}, { 'grpc.default_compression_algorithm': 2 });
    const { error } = await unary(grpc, '/t/Echo', Buffer.alloc(10_000));
    expect(error?.code).toBe(status.UNIMPLEMENTED);
    expect(error?.metadata.get('grpc-accept-encoding')).toEqual(['identity']);
  });

  test('past its deadline ends at both sides', async () => {
    const { grpc, events } = await world();
    const { error } = await unary(grpc, '/t/Hang', Buffer.alloc(0), undefined, { deadline: Date.now() + 100 });
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    await vi.waitFor(() => expect(events).toEqual(['hang', 'cancelled']));
  });

  test('that is cancelled tells its handler', async () => {
    const { grpc, events } = await world();
    const call = grpc.makeUnaryRequest('/t/Hang', same, same, Buffer.alloc(0), () => undefined);
    await vi.waitFor(() => expect(events).toEqual(['hang']));
    call.cancel();
    await vi.waitFor(() => expect(events).toEqual(['hang', 'cancelled']));
  });

  test('carries metadata both ways, text and bytes', async () => {
    const seen: unknown[] = [];
    const { grpc } = await world({
      unary: {
        '/t/Metadata': (_message, call) => {
          const { metadata } = call;
          seen.push(metadata.get('x-one'), metadata.get('x-two'), metadata.getAll('x-two'), metadata.get('x-none'));
          seen.push(metadata.getBinary('x-bin').map(String), call.path, typeof call.deadline);
          call.setHeaders([['x-head', 'in front']]);
          call.setTrailers([['x-tail-bin', Buffer.from([0, 1, 255])]]);
          call.answer(Buffer.alloc(0));
        },
      },
    });
    const metadata = new Metadata();
    metadata.set('x-one', 'first');
    metadata.add('x-two', 'a');
    metadata.add('x-two', 'b');
    metadata.add('x-bin', Buffer.from('bytes'));
    metadata.add('x-bin', Buffer.from('more'));
    let head: Metadata | undefined;
    let tail: Metadata | undefined;
    await new Promise<void>((resolve) => {
      const options = { deadline: Date.now() + 60_000 };
      const call = grpc.makeUnaryRequest(
        '/t/Metadata',
        same,
        same,
        Buffer.alloc(0),
        metadata,
        options,
        () => undefined,
      );
      call.on('metadata', (got) => {
        head = got;
      });
      call.on('status', (got) => {
        tail = got.metadata;
        resolve();
      });
    });
    expect(seen.slice(0, 2)).toEqual(['first', undefined]);
    expect(seen.slice(2)).toEqual([['a', 'b'], undefined, ['bytes', 'more'], '/t/Metadata', 'number']);
    expect(head?.get('x-head')).toEqual(['in front']);
    expect(tail?.get('x-tail-bin')).toEqual([Buffer.from([0, 1, 255])]);
  });

  test('with more metadata than 16 KiB is refused', async () => {
    const { grpc } = await world();
    const metadata = new Metadata();
    metadata.set('x-long', 'y'.repeat(17_000));
    const { error } = await unary(grpc, '/t/Echo', Buffer.alloc(0), metadata);
    expect(error?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect((await unary(grpc, '/t/Echo', Buffer.from('next'))).answer?.toString()).toBe('next');
  });
});

describe('a stream', () => {
  test('echoes many messages in order, and ends', async () => {
    const { grpc, events } = await world();
    const call = grpc.makeBidiStreamRequest('/t/Stream', same, same);
    const got: Buffer[] = [];
    call.on('data', (message: Buffer) => got.push(message));
    const ended = new Promise<number>((resolve) => call.on('status', ({ code }) => resolve(code)));
    const lengths = Array.from({ length: 300 }, (_, n) => (n * 997) % 40_000);
    for (const length of lengths) call.write(Buffer.alloc(length, length % 251));
    call.end();
    expect(await ended).toBe(0);
    expect(got.map(({ length }) => length)).toEqual(lengths);
    expect(got.every((message) => message.every((byte) => byte === message.length % 251))).toBe(true);
    expect(events.slice(-2)).toEqual(['ended', 'closed']);
  });

  test('that throws at a message fails, and is closed once', async () => {
    const closed = vi.fn();
    const { grpc } = await world({
      stream: {
        '/t/Throws': () => ({
          message: () => {
            throw new Error('no');
          },
          ended: () => undefined,
          closed,
        }),
      },
    });
    const call = grpc.makeBidiStreamRequest('/t/Throws', same, same);
    call.on('error', () => undefined);
    const ended = new Promise((resolve) => call.on('status', resolve));
    call.write(Buffer.alloc(1));
    expect(await ended).toMatchObject({ code: 9, details: 'no' });
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
  });

  test('that is cancelled is closed', async () => {
    const { grpc, events } = await world();
    const call = grpc.makeBidiStreamRequest('/t/Stream', same, same);
    call.on('error', () => undefined);
    call.write(Buffer.alloc(3));
    await vi.waitFor(() => expect(events).toEqual(['message 3']));
    call.cancel();
    await vi.waitFor(() => expect(events.at(-1)).toBe('closed'));
  });

  test('opens before anything is sent', async () => {
    const { grpc } = await world({
      stream: {
        '/t/Open': (stream) => {
          stream.setHeaders([['x-open', 'yes']]);
          stream.open();
          return { message: () => undefined, ended: () => undefined, closed: () => undefined };
        },
      },
    });
    const call = grpc.makeBidiStreamRequest('/t/Open', same, same);
    call.on('error', () => undefined);
    const head = await new Promise<Metadata>((resolve) => call.on('metadata', resolve));
    expect(head.get('x-open')).toEqual(['yes']);
    call.cancel();
  });
});

describe('drain', () => {
  test('lets calls in flight finish, and takes no new ones', async () => {
    let held: UnaryCall | undefined;
    const { grpc, server } = await world({
      unary: {
        '/t/Held': (_message, call) => {
          held = call;
        },
      },
    });
    const answer = unary(grpc, '/t/Held', Buffer.alloc(0));
    await vi.waitFor(() => expect(held).toBeDefined());
    const drained = server.drain(30_000);
    expect((await unary(grpc, '/t/Echo', Buffer.alloc(0))).error?.code).toBe(status.UNAVAILABLE);
    held?.answer(Buffer.from('in time'));
    expect((await answer).answer?.toString()).toBe('in time');
    await drained;
  });

  test('ends what is not finished in time', async () => {
    const { grpc, server, events } = await world();
    const answer = unary(grpc, '/t/Hang', Buffer.alloc(0));
    await vi.waitFor(() => expect(events).toEqual(['hang']));
    await server.drain(50);
    expect((await answer).error).toMatchObject({ code: status.UNAVAILABLE, details: 'the server stops' });
    expect(events).toEqual(['hang', 'cancelled']);
  });
});

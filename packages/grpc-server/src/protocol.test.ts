import { describe, expect, test } from 'vitest';
import { timeoutOf } from './calls/timeout.ts';
import type { Call, FindCredential } from './handlers.ts';
import { errorCode, flag, frameType, largestStreamId } from './http2/frame.ts';
import { data, emptySettings, framed, headers, ping, request, requestFields } from './testkit/raw-client.ts';
import { testServer } from './testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));
const grpc = (path: string, content: string) =>
  requestFields(path).map(([name, value]) => [name, name === 'content-type' ? content : value] as const);

describe('a request that is not gRPC', () => {
  test.each([
    ['another content-type', '415', headers(1, grpc('/t/Echo', 'application/json'), true)],
    ['a content-type that only begins alike', '415', headers(1, grpc('/t/Echo', 'application/grpc-web'), true)],
    ['GET', '405', headers(1, [[':method', 'GET'], ...requestFields('/t/Echo').slice(1)], true)],
    [
      'CONNECT',
      '405',
      headers(
        1,
        [
          [':method', 'CONNECT'],
          [':authority', 'a:1'],
        ],
        true,
      ),
    ],
  ])('for %s gets %s', async (_what, status, bytes) => {
    const { client } = await testServer();
    const answer = await (await client(emptySettings, bytes)).answer(1);
    expect(answer.get(':status')).toBe(status);
  });

  test.each(['application/grpc', 'application/grpc+proto', 'application/grpc;charset=utf-8'])(
    'is not %s',
    async (content) => {
      const { client } = await testServer();
      const here = await client(emptySettings, headers(1, grpc('/t/Echo', content)), data(1, hello, true));
      expect(await here.answer(1)).toEqual(
        new Map([
          [':status', '200'],
          ['content-type', 'application/grpc'],
          ['grpc-accept-encoding', 'identity'],
          ['grpc-status', '0'],
        ]),
      );
    },
  );
});

describe('a unary call', () => {
  const unimplemented = '12';
  const exhausted = '8';
  test.each([
    ['without a message', unimplemented, data(1, Buffer.alloc(0), true)],
    ['with two messages', unimplemented, data(1, Buffer.concat([hello, hello]), true)],
    ['that begins a second message', unimplemented, data(1, Buffer.concat([hello, Buffer.alloc(1)]))],
    ['with a compressed message but no encoding', '13', data(1, framed(Buffer.from('hello'), 5, true))],
    ['that begins a compressed message', '13', data(1, Buffer.from([1]))],
    ['with a message that is cut off', '13', data(1, hello.subarray(0, 8), true)],
    ['with a message over the limit', exhausted, data(1, framed(Buffer.alloc(1), 4 * 1024 * 1024 + 1))],
  ])('%s has status %s', async (_what, status, body) => {
    const { client } = await testServer();
    const here = await client(emptySettings, request(1), body);
    const answer = await here.answer(1);
    expect([answer.get(':status'), answer.get('grpc-status')]).toEqual(['200', status]);
  });

  test('a path with a larger bound has it once the connection is trusted', async () => {
    const { client } = await testServer({
      limits: { messageBytes: 8, trustedMessageBytes: new Map([['/t/Echo', 100]]) },
    });
    const long = (id: number, length: number) => [request(id, '/t/Echo'), data(id, framed(Buffer.alloc(length)), true)];
    const here = await client(emptySettings, ...long(1, 50));
    expect((await here.answer(1)).get('grpc-status')).toBe(exhausted);
    here.write(request(3, '/t/Trust'), data(3, hello, true), ...long(5, 50), ...long(7, 101));
    expect((await here.answer(5)).get('grpc-status')).toBe('0');
    expect((await here.answer(7)).get('grpc-status')).toBe(exhausted);
    here.write(request(9, '/t/Trust'), data(9, framed(Buffer.alloc(50)), true));
    expect((await here.answer(9)).get('grpc-status')).toBe(exhausted);
  });

  describe('a path with a larger bound, on a connection that has shown no credential', () => {
    const message = framed(Buffer.alloc(60_000, 'c'));
    const longer = framed(Buffer.alloc(200_000, 'c'));
    const begin = async (find: FindCredential, sent = message) => {
      const seen: number[] = [];
      const { client } = await testServer({
        limits: {
          messageBytes: 1000,
          trustedMessageBytes: new Map([['/t/Echo', 200_000]]),
          findCredential: new Map([
            [
              '/t/Echo',
              (bytes, call) => {
                seen.push(bytes.length);
                return find(bytes, call);
              },
            ],
          ]),
        },
      });
      const here = await client(emptySettings, request(1, '/t/Echo'), data(1, sent.subarray(0, 10)));
      return { here, seen };
    };

    test.each<[string, (call: Call) => boolean | Promise<boolean>]>([
      [
        'at once',
        (call) => {
          call.trust('a');
          return true;
        },
      ],
      [
        'later',
        async (call) => {
          await Promise.resolve();
          call.trust('a');
          return true;
        },
      ],
    ])('goes on once one is found in its beginning: %s', async (_, show) => {
      const { here, seen } = await begin((bytes, call) => (bytes.length < 100 ? undefined : show(call)));
      await expect.poll(() => seen).toEqual([5]);
      here.write(data(1, message.subarray(10, 16_000)));
      await expect.poll(() => seen).toEqual([5, 15_995]);
      for (let at = 16_000; at < message.length; at += 16_000) {
        here.write(data(1, message.subarray(at, at + 16_000), at + 16_000 >= message.length));
      }
      expect((await here.answer(1)).get('grpc-status')).toBe('0');
      expect(seen).toHaveLength(2);
    });

    test('is refused if there is none', async () => {
      const { here } = await begin(() => false);
      expect((await here.answer(1)).get('grpc-status')).toBe(exhausted);
    });

    test.each<[string, FindCredential]>([
      ['fails', () => Promise.reject(new Error('no'))],
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
    ])('is refused with the status of the error if looking for it %s', async (_, find) => {
      const { here } = await begin(find);
      expect((await here.answer(1)).get('grpc-status')).toBe('9');
    });

    test('is refused if none is found in what may come before one is', async () => {
      const { here, seen } = await begin(() => undefined, longer);
      for (let at = 10; at < 65_535; at += 16_000)
        here.write(data(1, longer.subarray(at, Math.min(at + 16_000, 65_535))));
      expect((await here.answer(1)).get('grpc-status')).toBe(exhausted);
      expect(Math.max(...seen)).toBeLessThan(65_536);
    });
  });

  test.each([
    ['gzip', unimplemented],
    ['identity', '13'],
  ])('with a compressed message and the encoding %s has status %s', async (encoding, status) => {
    const { client } = await testServer();
    const compressed = data(1, framed(Buffer.from('hello'), 5, true), true);
    const here = await client(emptySettings, request(1, '/t/Echo', ['grpc-encoding', encoding]), compressed);
    expect((await here.answer(1)).get('grpc-status')).toBe(status);
  });

  test('may name an encoding that it does not use', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings, request(1, '/t/Echo', ['grpc-encoding', 'gzip']), data(1, hello, true));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
  });

  test('that fails before its request has ended need not send the rest', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings, request(1, '/t/None'), data(1, hello), data(1, hello, true));
    expect((await here.answer(1)).get('grpc-status')).toBe('12');
    expect(await here.reset(1)).toBe(errorCode.noError);
    await here.settled();
  });

  test('ends with trailers of the client, too', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings, request(1), data(1, hello), headers(1, [['x-tail', '1']], true));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
  });

  test('comes byte by byte', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings);
    for (const byte of Buffer.concat([request(1), data(1, hello, true)])) {
      here.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
    expect(here.content(1)).toEqual(hello);
  });

  test('with a timeout that is none is refused', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings, request(1, '/t/Echo', ['grpc-timeout', '1x']), data(1, hello, true));
    expect((await here.answer(1)).get('grpc-status')).toBe('13');
  });

  test('past its deadline has a status', async () => {
    const { client, events } = await testServer();
    const here = await client(emptySettings, request(1, '/t/Hang', ['grpc-timeout', '50m']), data(1, hello, true));
    expect((await here.answer(1)).get('grpc-status')).toBe('4');
    expect(events).toEqual(['hang', 'cancelled']);
  });
});

test.each([
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['3S', 3000],
  ['4m', 4],
  ['5000u', 5],
  ['6000000n', 6],
  ['99999999m', 99_999_999],
  ['100000000m', Number.NaN],
  ['1', Number.NaN],
  ['S', Number.NaN],
  ['-1S', Number.NaN],
  ['1.5S', Number.NaN],
])('the timeout %s is %f ms', (text, ms) => {
  expect(Math.round((timeoutOf(text) ?? 0) * 1e6) / 1e6).toBe(ms);
});

test('answers of one read go out together, and heads that repeat are known', async () => {
  const { client } = await testServer();
  const calls = Array.from({ length: 50 }, (_, n) => [request(2 * n + 1), data(2 * n + 1, hello, true)]).flat();
  const here = await client(emptySettings, ...calls);
  await here.settled();
  expect(here.frames.filter(({ type, flags }) => type === frameType.headers && flags & flag.endStream)).toHaveLength(
    50,
  );
});

test('drain says first that no calls are wanted, and a round trip later which was the last', async () => {
  const { client, server } = await testServer();
  const here = await client(emptySettings, request(1, '/t/Hang'), data(1, hello, true));
  await here.settled();
  const drained = server.drain(5000);
  const first = await here.until(({ type }) => type === frameType.goAway);
  expect(first?.payload.readUInt32BE(0)).toBe(largestStreamId);
  const asked = await here.until(({ type, flags }) => type === frameType.ping && flags === 0);
  here.write(request(3), data(3, hello, true));
  expect((await here.answer(3)).get('grpc-status')).toBe('0');
  here.write(ping(asked?.payload.toString(), true), request(5));
  expect(await here.reset(5)).toBe(errorCode.refusedStream);
  const last = here.frames.findLast(({ type }) => type === frameType.goAway);
  expect(last?.payload.readUInt32BE(0)).toBe(3);
  here.destroy();
  await drained;
});

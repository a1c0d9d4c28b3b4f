import { describe, expect, test, vi } from 'vitest';
import type { ServerStream } from './handlers.ts';
import { frameType, settingId } from './http2/frame.ts';
import { settingsFrame } from './http2/settings.ts';
import type { RawClient } from './testkit/raw-client.ts';
import { data, emptySettings, frame, framed, request, word } from './testkit/raw-client.ts';
import { testServer } from './testkit/test-server.ts';

const initialWindow = (size: number) => settingsFrame([[settingId.initialWindowSize, size]]);
const widen = (stream: number, increment: number) => frame(frameType.windowUpdate, 0, stream, word(increment));
const message = framed(Buffer.from('0123456789'.repeat(10)));

async function contentAfter(client: RawClient, stream: number): Promise<number> {
  await client.settled(`${Math.random()}`.slice(2, 10).padEnd(8, '.'));
  return client.content(stream).length;
}

describe('an answer', () => {
  test('goes only as far as the window of its stream', async () => {
    const { client } = await testServer();
    const here = await client(initialWindow(3), request(1), data(1, message, true));
    expect(await contentAfter(here, 1)).toBe(3);
    here.write(widen(1, 4));
    expect(await contentAfter(here, 1)).toBe(7);
    here.write(widen(1, 97));
    expect(await contentAfter(here, 1)).toBe(104);
    here.write(widen(1, 1));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
    expect(here.content(1)).toEqual(message);
  });

  test('waits for a window that SETTINGS made negative to be positive again (RFC 9113 §6.9.2)', async () => {
    const { client } = await testServer();
    const here = await client(initialWindow(50), request(1), data(1, message, true));
    expect(await contentAfter(here, 1)).toBe(50);
    here.write(initialWindow(0), widen(1, 40));
    expect(await contentAfter(here, 1)).toBe(50);
    here.write(widen(1, 11));
    expect(await contentAfter(here, 1)).toBe(51);
    here.write(initialWindow(1000));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
    expect(here.content(1)).toEqual(message);
  });

  test('goes on only after the SETTINGS that let it are acknowledged (RFC 9113 §6.5.3)', async () => {
    const { client } = await testServer();
    const here = await client(initialWindow(0), request(1), data(1, message, true));
    expect(await contentAfter(here, 1)).toBe(0);
    here.frames.length = 0;
    here.write(initialWindow(1));
    await here.until(({ type }) => type === frameType.data);
    expect(here.frames.map(({ type }) => type).slice(0, 2)).toEqual([frameType.settings, frameType.data]);
  });

  test('shares the window of the connection with others, and each gets its turn', async () => {
    const { client } = await testServer();
    const here = await client(initialWindow(1_000_000));
    const large = framed(Buffer.alloc(60_000, 7));
    const pieces = [1, 3, 5].flatMap((id) => [
      request(id),
      ...[0, 1, 2, 3].map((n) => data(id, large.subarray(n * 16_000, (n + 1) * 16_000), n === 3)),
    ]);
    here.write(...pieces);
    const sums = async () => [await contentAfter(here, 1), await contentAfter(here, 3), await contentAfter(here, 5)];
    expect(await sums()).toEqual([60_005, 5530, 0]);
    here.write(widen(0, 40_000));
    const [, second = 0, third = 0] = await sums();
    expect(second + third).toBe(45_530);
    expect(third).toBeGreaterThan(15_000);
    here.write(widen(0, 200_000));
    for (const id of [1, 3, 5]) {
      expect((await here.answer(id)).get('grpc-status')).toBe('0');
      expect(here.content(id).equals(large)).toBe(true);
    }
  });

  test('is its own, whatever the handler writes over its bytes while it waits', async () => {
    const lent = Buffer.alloc(20);
    const { client } = await testServer({
      unary: {
        '/t/Lent': (_message, call) => {
          call.answer(lent.fill('a'));
          lent.fill('x');
        },
      },
      stream: {
        '/t/Push': (stream) => {
          for (const letter of 'abc') stream.send(lent.fill(letter));
          lent.fill('x');
          return { message: () => undefined, ended: () => undefined, closed: () => undefined };
        },
      },
    });
    const ask = (id: number, path: string) => [request(id, path), data(id, framed(Buffer.alloc(1)), true)];
    const here = await client(initialWindow(7), ...ask(1, '/t/Lent'), ...ask(3, '/t/Push'));
    expect(await contentAfter(here, 1)).toBe(7);
    here.write(widen(1, 100), widen(3, 100));
    await here.settled('let out.');
    expect(here.content(1)).toEqual(framed(Buffer.alloc(20, 'a')));
    expect(here.content(3)).toEqual(Buffer.concat(['a', 'b', 'c'].map((letter) => framed(Buffer.alloc(20, letter)))));
  });

  test('to a stream tells its handler when to stop and when to go on', async () => {
    const seen: unknown[] = [];
    const { client } = await testServer({
      stream: {
        '/t/Push': (stream) => {
          seen.push(stream.send(Buffer.alloc(5)), stream.send(Buffer.alloc(5)), stream.send(Buffer.alloc(5)));
          return {
            message: () => seen.push('message'),
            ended: () => seen.push('ended'),
            drained: () => seen.push('drained'),
            closed: () => seen.push('closed'),
          };
        },
      },
    });
    const here = await client(initialWindow(15), request(1, '/t/Push'), data(1, framed(Buffer.alloc(1))));
    expect(await contentAfter(here, 1)).toBe(15);
    // Nothing is read from a stream whose client does not read its answers.
    expect(seen).toEqual([true, false, false]);
    here.write(widen(1, 15));
    await here.settled('drained.');
    expect(seen).toEqual([true, false, false, 'drained', 'message']);
    here.write(data(1, Buffer.alloc(0), true));
    await here.settled('ended...');
    expect(seen.slice(5)).toEqual(['ended']);
  });
});

describe('a request', () => {
  test('that fits the first window needs no WINDOW_UPDATE', async () => {
    const { client } = await testServer();
    const here = await client();
    for (let id = 1; id < 40; id += 2) here.write(request(id), data(id, framed(Buffer.alloc(10_000)), true));
    await here.settled();
    expect(here.frames.filter(({ type, stream }) => type === frameType.windowUpdate && stream > 0)).toEqual([]);
    expect(here.frames.filter(({ type }) => type === frameType.windowUpdate)).toHaveLength(1);
  });

  test('that fills the first window gets a little more, for the frame that ends it', async () => {
    const { client } = await testServer();
    const here = await client();
    const message = framed(Buffer.alloc(65_530));
    here.write(request(1), ...[0, 1, 2, 3].map((n) => data(1, message.subarray(n * 16_384, (n + 1) * 16_384))));
    await here.settled();
    expect(here.granted(1)).toBeGreaterThanOrEqual(1024);
    // A read may end within a frame, whose rest is then counted as missing.
    expect(here.granted(1)).toBeLessThanOrEqual(1024 + 16_384);
  });

  test('that is larger gets the rest of its message at once', async () => {
    const { client } = await testServer();
    const here = await client();
    here.write(request(1), data(1, framed(Buffer.alloc(995), 1_000_000)));
    await here.settled();
    expect(here.granted(1)).toBe(1_000_005 - 65_535 + 1024);
  });

  test('is let in further once half of the window of the connection is used', async () => {
    const { client } = await testServer();
    const here = await client(emptySettings);
    const first = here.granted.bind(here);
    const part = data(1, Buffer.alloc(16_384));
    here.write(request(1, '/t/Stream'), data(1, framed(Buffer.alloc(0), 4_000_000)));
    for (let sent = 0; sent < 120; sent++) here.write(part);
    await here.settled('under...');
    expect(first(0)).toBe(4 * 1024 * 1024 - 65_535);
    for (let sent = 0; sent < 20; sent++) here.write(part);
    await here.settled('over....');
    expect(here.granted(0)).toBeGreaterThan(6 * 1024 * 1024 - 65_535);
  });

  test('to a paused stream goes as far as its window, and on when it is resumed', async () => {
    let stream: ServerStream | undefined;
    const got: number[] = [];
    const { client } = await testServer({
      stream: {
        '/t/Slow': (it) => {
          stream = it;
          return {
            message: (bytes) => {
              got.push(bytes.length);
              if (got.length === 2) it.pause();
            },
            ended: () => it.end(),
            closed: () => undefined,
          };
        },
      },
    });
    const one = framed(Buffer.alloc(9995));
    const here = await client();
    here.write(request(1, '/t/Slow'), ...Array.from({ length: 6 }, () => data(1, one)));
    await here.settled('paused..');
    expect(got).toHaveLength(2);
    expect(here.granted(1)).toBe(0);
    stream?.resume();
    await vi.waitFor(() => expect(here.granted(1)).toBe(60_000));
    expect(got).toEqual([9995, 9995, 9995, 9995, 9995, 9995]);
    here.write(data(1, one, true));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
    expect(got).toHaveLength(7);
  });

  test('ends after what a paused stream has not read yet', async () => {
    let stream: ServerStream | undefined;
    const seen: string[] = [];
    const { client } = await testServer({
      stream: {
        '/t/Slow': (it) => {
          stream = it;
          it.pause();
          return {
            message: (bytes) => {
              seen.push(Buffer.from(bytes).toString());
              it.pause();
            },
            ended: () => seen.push('ended'),
            closed: () => undefined,
          };
        },
      },
    });
    const here = await client();
    here.write(
      request(1, '/t/Slow'),
      data(1, Buffer.concat([framed(Buffer.from('a')), framed(Buffer.from('b'))]), true),
    );
    await here.settled();
    expect(seen).toEqual([]);
    stream?.resume();
    expect(seen).toEqual(['a']);
    stream?.resume();
    expect(seen).toEqual(['a', 'b', 'ended']);
    stream?.resume();
    expect(seen).toEqual(['a', 'b', 'ended']);
  });
});

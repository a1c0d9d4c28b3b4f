import { describe, expect, test, vi } from 'vitest';
import { encodeFields } from '../hpack/encoder.ts';
import { errorCode, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { data, emptySettings, frame, framed, ping, request, requestFields } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));
const trust = [request(1, '/t/Trust'), data(1, hello, true)];
const noWindow = settingsFrame([[settingId.initialWindowSize, 0]]);
const soon = { finishWithinMs: 200 };

describe('what takes too long is ended', () => {
  test('a preface that does not come', async () => {
    const { silentClient } = await testServer({ limits: { prefaceWithinMs: 100 } });
    const here = await silentClient();
    await here.closed();
  });

  test('a header block that does not end', async () => {
    const { client } = await testServer({ limits: soon });
    const block = encodeFields(requestFields('/t/Echo'));
    const here = await client(emptySettings, ...trust, frame(frameType.headers, 0, 3, block));
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });

  test('a frame that does not end', async () => {
    const { client } = await testServer({ limits: soon });
    const here = await client(emptySettings, ...trust, request(3).subarray(0, 20));
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });

  test.each([
    ['a message of a unary call', '/t/Echo', data(3, hello.subarray(0, 7))],
    ['a unary call that sends nothing', '/t/Echo', Buffer.alloc(0)],
    ['a unary call that does not end', '/t/Echo', data(3, hello)],
    ['a message of a stream', '/t/Stream', data(3, hello.subarray(0, 3))],
  ])('%s', async (_what, path, rest) => {
    const { client } = await testServer({ limits: soon });
    const here = await client(emptySettings, ...trust, request(3, path), rest);
    expect(await here.reset(3)).toBe(errorCode.enhanceYourCalm);
    await here.settled();
  });

  test('a connection whose answers are not let through, until it is trusted', async () => {
    const { client } = await testServer({ limits: soon });
    const trusted = await client(emptySettings, ...trust);
    await trusted.answer(1);
    trusted.write(noWindow, request(3), data(3, hello, true));
    const here = await client(noWindow, request(1), data(1, hello, true));
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
    await trusted.settled();
    expect(trusted.isClosed).toBe(false);
  });

  test('an answer of which a trusted client takes nothing', async () => {
    const { client } = await testServer({ limits: soon });
    const here = await client(emptySettings, ...trust);
    await here.answer(1);
    here.write(noWindow, request(3), data(3, hello, true), request(5, '/t/Stream'), data(5, hello));
    expect(await here.reset(3)).toBe(errorCode.enhanceYourCalm);
    here.write(settingsFrame([[settingId.initialWindowSize, 100]]), data(5, Buffer.alloc(0), true));
    expect((await here.answer(5)).get('grpc-status')).toBe('0');
  });

  test('a stream of a stranger that says nothing, unless it was answered', async () => {
    const quiet = { message: () => undefined, ended: () => undefined, closed: () => undefined };
    const { client } = await testServer({
      limits: { ...soon, idleForMs: soon.finishWithinMs },
      stream: {
        '/t/Open': (stream) => {
          stream.open();
          return quiet;
        },
      },
    });
    const here = await client(emptySettings, request(1, '/t/Open'), request(3, '/t/Stream'));
    expect(await here.reset(3)).toBe(errorCode.enhanceYourCalm);
    await here.settled();
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(1);
  });

  test('a connection that reads nothing, trusted or not', async () => {
    const large = Buffer.alloc(1024 * 1024);
    const { client } = await testServer({
      limits: soon,
      unary: { '/t/Large': (_message, call) => call.answer(large) },
    });
    const open = settingsFrame([[settingId.initialWindowSize, 0x7fff_ffff]]);
    const here = await client(open, ...trust, frame(frameType.windowUpdate, 0, 0, Buffer.from([0x7f, 0, 0, 0])));
    await here.answer(1);
    here.socket.pause();
    for (let n = 1; n < 64; n++) here.write(request(2 * n + 1, '/t/Large'), data(2 * n + 1, hello, true));
    await new Promise<void>((resolve) => {
      here.socket.once('error', () => resolve());
      // Writing to it fails once it is gone.
      const again = setInterval(() => here.write(ping()), 100);
      here.socket.once('close', () => {
        clearInterval(again);
        resolve();
      });
    });
  });

  test('a connection that is idle, unless it is trusted', async () => {
    const { client } = await testServer({ limits: { idleForMs: 200 } });
    const trusted = await client(emptySettings, ...trust);
    const here = await client(emptySettings, request(1), data(1, hello, true));
    expect(await here.goAway()).toBe(errorCode.noError);
    await here.closed();
    expect(trusted.isClosed).toBe(false);
  });

  test('a connection that does not answer whether it is there', async () => {
    const { client } = await testServer({ limits: { keepaliveMs: 100, keepaliveTimeoutMs: 200 } });
    const alive = await client(emptySettings, ...trust);
    const answers = setInterval(() => alive.write(ping('are you?', true)), 30);
    const here = await client(emptySettings, ...trust);
    await here.until(({ type, flags }) => type === frameType.ping && flags === 0);
    await here.closed();
    clearInterval(answers);
    expect(alive.isClosed).toBe(false);
  });
});

describe('what is too much is refused', () => {
  test('calls beyond the number that was advertised, and before that, until the connection is trusted', async () => {
    const { client } = await testServer({ limits: { streams: 6, untrustedStreams: 3 } });
    const here = await client();
    const settings = await here.until(({ type }) => type === frameType.settings);
    expect(settings?.payload.subarray(0, 6)).toEqual(Buffer.from([0, settingId.maxConcurrentStreams, 0, 0, 0, 6]));
    here.write(...[1, 3, 5, 7].map((id) => request(id, '/t/Stream')));
    expect(await here.reset(7)).toBe(errorCode.refusedStream);
    here.write(frame(frameType.rstStream, 0, 5, Buffer.alloc(4)), request(9, '/t/Trust'), data(9, hello, true));
    expect((await here.answer(9)).get('grpc-status')).toBe('0');
    here.write(...[11, 13, 15, 17, 19].map((id) => request(id, '/t/Stream')));
    expect(await here.reset(19)).toBe(errorCode.refusedStream);
    await here.settled();
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(2);
  });

  test('connections beyond their number', async () => {
    const { client, silentClient } = await testServer({ limits: { connections: 2 } });
    const first = await client();
    const second = await client();
    await first.settled();
    await second.settled();
    await (await silentClient()).closed();
    first.destroy();
    await vi.waitFor(async () => {
      const next = await client();
      await next.settled();
      expect(next.isClosed).toBe(false);
    });
  });

  test('calls of a client whose answers already wait', async () => {
    const { client } = await testServer({ limits: { unsentOfStrangers: 1000 } });
    const here = await client(noWindow, request(1), data(1, hello, true), request(3), data(3, hello, true), request(5));
    expect(await here.reset(5)).toBe(errorCode.refusedStream);
    here.write(settingsFrame([[settingId.initialWindowSize, 100]]), request(7), data(7, hello, true));
    for (const id of [1, 3, 7]) expect((await here.answer(id)).get('grpc-status')).toBe('0');
  });

  test('calls of a stranger that hold much by their metadata alone', async () => {
    const { client } = await testServer({ limits: { inConnection: 100_000, waitingCalls: 2 } });
    const here = await client();
    const ids = Array.from({ length: 12 }, (_, n) => 2 * n + 1);
    for (const id of ids) here.write(request(id, '/t/Stream', ['x-long', 'y'.repeat(15_000)]));
    expect(await here.reset(23)).toBe(errorCode.enhanceYourCalm);
    await here.settled();
    // Six have room, and two wait for it.
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(4);
  });

  test('room for large messages of strangers, who wait for each other', async () => {
    const limits = {
      smallMessageBytes: 1000,
      largeInConnection: 90_000,
      inConnection: 95_000,
      largeOfStrangers: 100_000,
    };
    const { client } = await testServer({ limits });
    const begin = data(1, framed(Buffer.alloc(1000), 80_000));
    const first = await client(emptySettings, request(1), begin);
    await first.settled();
    expect(first.granted(1)).toBeGreaterThan(0);
    const second = await client(emptySettings, request(1), begin);
    await second.settled();
    expect(second.granted(1)).toBe(0);
    const third = await client(emptySettings, request(1), data(1, hello, true));
    expect((await third.answer(1)).get('grpc-status')).toBe('0');
    first.destroy();
    await vi.waitFor(() => expect(second.granted(1)).toBe(80_005 - 65_535 + 1024));
  });
});

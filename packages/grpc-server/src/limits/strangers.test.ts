import { describe, expect, test, vi } from 'vitest';
import type { UnaryHandler } from '../handlers.ts';
import { errorCode, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { data, emptySettings, framed, request } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));
const quiet = { message: () => undefined, ended: () => undefined, closed: () => undefined };
const long = ['x-long', 'y'.repeat(15_000)] as const;
const ids = Array.from({ length: 12 }, (_, n) => 2 * n + 1);

describe('calls of a stranger that the server has yet to end hold room by their heads', () => {
  const limits = { inConnection: 100_000, waitingCalls: 2 };

  test('when their requests have ended', async () => {
    const { client } = await testServer({ limits, stream: { '/t/Watch': () => quiet } });
    const here = await client();
    for (const id of ids) here.write(request(id, '/t/Watch', long), data(id, hello, true));
    await here.settled();
    // Six have room, and two wait for it.
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(4);
    expect(await here.reset(23)).toBe(errorCode.enhanceYourCalm);
  });

  test('when their answers are not read', async () => {
    const { client } = await testServer({ limits });
    const here = await client(settingsFrame([[settingId.initialWindowSize, 0]]));
    for (const id of ids) here.write(request(id, '/t/Echo', long), data(id, hello, true));
    await here.settled();
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(4);
  });

  test('but not once the stranger is known', async () => {
    const { client } = await testServer({ limits, stream: { '/t/Watch': () => quiet } });
    const here = await client(emptySettings, request(101, '/t/Trust'), data(101, hello, true));
    await here.answer(101);
    for (const id of ids) here.write(request(id + 102, '/t/Watch', long), data(id + 102, hello, true));
    await here.settled();
    expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toHaveLength(0);
  });

  test('and short heads count for what a call takes beside them', async () => {
    const { client } = await testServer({ limits, stream: { '/t/Watch': () => quiet } });
    const here = await client();
    for (let n = 0; n < 100; n++) here.write(request(2 * n + 1, '/t/Watch'), data(2 * n + 1, hello, true));
    await here.settled();
    const reset = here.frames.filter(({ type }) => type === frameType.rstStream).length;
    expect(reset).toBeGreaterThan(10);
    expect(reset).toBeLessThan(40);
  });
});

describe('a stranger that declares a large message and sends nothing', () => {
  const limits = {
    smallMessageBytes: 1000,
    largeInConnection: 90_000,
    inConnection: 95_000,
    largeOfStrangers: 100_000,
  };
  const begun = data(1, framed(Buffer.alloc(1000), 80_000));
  const unary: Record<string, UnaryHandler> = {
    '/t/Length': (message, call) => call.answer(Buffer.from(`${message.length}`)),
  };

  test('makes room for another that waits, long before its time is up', async () => {
    const { client } = await testServer({ unary, limits: { ...limits, finishWithinMs: 5000 } });
    const first = await client(emptySettings, request(1, '/t/Length'), begun);
    await first.settled();
    const second = await client(emptySettings, request(1, '/t/Length'), begun);
    // The second began right after the first: if the first had all its time, both would be cut off.
    expect(await first.reset(1)).toBe(errorCode.enhanceYourCalm);
    await vi.waitFor(() => expect(second.granted(1)).toBeGreaterThan(0), 4000);
    for (let sent = 1000; sent < 80_000; sent += 10_000) {
      second.write(data(1, Buffer.alloc(Math.min(10_000, 80_000 - sent)), sent + 10_000 >= 80_000));
    }
    expect((await second.answer(1)).get('grpc-status')).toBe('0');
  });

  test('keeps its room while it sends as fast as it must', async () => {
    const { client } = await testServer({ unary, limits: { ...limits, finishWithinMs: 3000 } });
    const first = await client(emptySettings, request(1, '/t/Length'), begun);
    await first.settled();
    const second = await client(emptySettings, request(1, '/t/Length'), begun);
    await second.settled();
    for (let sent = 1000; sent < 80_000; sent += 7900) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      first.write(data(1, Buffer.alloc(7900), sent + 7900 >= 80_000));
    }
    expect((await first.answer(1)).get('grpc-status')).toBe('0');
  });
});

test('when most connections are taken, strangers may be idle for a short time only', async () => {
  const { client } = await testServer({ limits: { connections: 4, prefaceWithinMs: 200 } });
  const trusted = await client(emptySettings, request(1, '/t/Trust'), data(1, hello, true));
  const some = await Promise.all([client(), client()]);
  const last = await client();
  const all = [...some, last];
  await vi.waitFor(() => expect(all.some(({ isClosed }) => isClosed)).toBe(true), 10_000);
  const gone = all.find(({ isClosed }) => isClosed);
  expect(await gone?.goAway()).toBe(errorCode.noError);
  expect(trusted.isClosed).toBe(false);
});

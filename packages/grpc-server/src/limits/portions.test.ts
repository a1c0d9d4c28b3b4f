import { expect, test, vi } from 'vitest';
import type { UnaryCall } from '../handlers.ts';
import { encodeFields } from '../hpack/encoder.ts';
import { errorCode, flag, frameType } from '../http2/frame.ts';
import { data, emptySettings, frame, framed, headers, ping, request, requestFields } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));

test('others have their turn within a read that holds many calls', async () => {
  let handled = 0;
  const atOnce: number[] = [];
  const { client } = await testServer({
    unary: {
      '/t': (message, call) => {
        // One count for each stretch without a pause.
        if (handled === 0) {
          setImmediate(() => {
            atOnce.push(handled);
            handled = 0;
          });
        }
        handled++;
        call.answer(message);
      },
    },
  });
  const calls = Array.from({ length: 900 }, (_, n) =>
    Buffer.concat([request(2 * n + 1, '/t'), data(2 * n + 1, Buffer.alloc(5), true)]),
  );
  const here = await client(emptySettings, ...calls);
  expect((await here.answer(1799)).get('grpc-status')).toBe('0');
  await vi.waitFor(() => expect(atOnce.reduce((sum, count) => sum + count, 0)).toBe(900));
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(256);
});

test('what came before the end of a connection is handled, in portions as well', async () => {
  let handled = 0;
  const { client } = await testServer({ unary: { '/t': () => handled++ } });
  const calls = Array.from({ length: 700 }, (_, n) =>
    Buffer.concat([request(2 * n + 1, '/t'), data(2 * n + 1, hello, true)]),
  );
  const here = await client(emptySettings, ...calls);
  here.socket.end();
  await here.closed();
  expect(handled).toBe(700);
});

test('the answer to an unknown method is short, whatever its path', async () => {
  const { client } = await testServer();
  const path = `/${'\u0080'.repeat(3000)}`;
  const here = await client(emptySettings, headers(1, requestFields(path), true));
  expect((await here.answer(1)).get('grpc-status')).toBe('12');
  const answer = await here.until(({ type }) => type === frameType.headers);
  expect(answer?.payload.length).toBeLessThan(800);
});

test('a status with a long message is cut at a character, to 1 KiB', async () => {
  const { client } = await testServer({
    unary: { '/t/Long': (_message, call) => call.fail(new Error('ü'.repeat(9000))) },
  });
  const here = await client(emptySettings, request(1, '/t/Long'), data(1, hello, true));
  const message = (await here.answer(1)).get('grpc-message') ?? '';
  expect(message).toBe('%C3%BC'.repeat(170));
});

test('calls that no method takes end the connection after a while, and earn nothing', async () => {
  const limits = { streams: 500, idleFrames: 20, idleFramesPerSecond: 0 };
  const { client } = await testServer({ limits });
  const calls = Array.from({ length: 2000 }, (_, n) => headers(2 * n + 1, requestFields('/t/None'), true));
  const here = await client(emptySettings, ...calls);
  expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  // A fifth of the calls that may be refused, and what comes back meanwhile.
  expect(here.frames.filter(({ type }) => type === frameType.headers).length).toBeLessThan(1000);
});

test('nothing is read from a peer that does not read, not even what came already', async () => {
  let handled = 0;
  const { client } = await testServer({
    unary: {
      '/t': (_message, call) => {
        handled++;
        call.fail(new Error('e'.repeat(1000)));
      },
    },
  });
  const block = encodeFields(requestFields('/t'));
  const calls = Array.from({ length: 40_000 }, (_, n) =>
    Buffer.concat([
      frame(frameType.headers, flag.endHeaders, 2 * n + 1, block),
      data(2 * n + 1, Buffer.alloc(5), true),
    ]),
  );
  const here = await client(emptySettings);
  here.socket.pause();
  here.write(...calls);
  let before = -1;
  await vi.waitFor(
    () => {
      const isStill = handled > 0 && handled === before;
      before = handled;
      expect(isStill).toBe(true);
    },
    { timeout: 10_000, interval: 200 },
  );
  expect(handled).toBeLessThan(20_000);
  here.socket.resume();
  expect((await here.answer(79_999)).get('grpc-status')).toBe('9');
});

test('a handler counts until it answers, though its call was given up', async () => {
  const running: UnaryCall[] = [];
  const { client } = await testServer({
    limits: { untrustedStreams: 3 },
    unary: { '/t/Slow': (_message, call) => running.push(call) },
  });
  const here = await client();
  const slow = (id: number) => here.write(request(id, '/t/Slow', ['grpc-timeout', '1n']), data(id, hello, true));
  for (const id of [1, 3, 5]) {
    slow(id);
    expect((await here.answer(id)).get('grpc-status')).toBe('4');
  }
  slow(7);
  expect(await here.reset(7)).toBe(errorCode.refusedStream);
  expect(running).toHaveLength(3);
  running[0]?.answer(hello);
  running[0]?.answer(hello);
  running[1]?.fail(new Error('late'));
  for (const id of [9, 11]) {
    slow(id);
    expect((await here.answer(id)).get('grpc-status')).toBe('4');
  }
  slow(13);
  expect(await here.reset(13)).toBe(errorCode.refusedStream);
});

test('calls that pass their deadline earn nothing', async () => {
  const limits = { idleFrames: 20, idleFramesPerSecond: 0 };
  const { client } = await testServer({ limits, unary: { '/t/Slow': () => undefined } });
  const here = await client();
  for (let n = 0; n < 20; n++) {
    const id = 2 * n + 1;
    here.write(request(id, '/t/Slow', ['grpc-timeout', '1n']), data(id, hello, true), ...[1, 2, 3].map(() => ping()));
    if ((await here.answer(id)).get('grpc-status') !== '4') break;
  }
  expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
});

test('frames that do nothing for a call let others have their turn, too', async () => {
  const { client } = await testServer({ limits: { idleFrames: 10_000 } });
  const here = await client(emptySettings, ...Array.from({ length: 3000 }, () => ping()));
  const acknowledged = () => here.frames.filter(({ type }) => type === frameType.ping).length;
  const atOnce: number[] = [];
  for (let before = 0; before < 3000; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = acknowledged();
    atOnce.push(now - before);
    before = now;
  }
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(256);
});

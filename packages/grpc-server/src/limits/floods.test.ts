import { describe, expect, test } from 'vitest';
import { encodeFields } from '../hpack/encoder.ts';
import { errorCode, flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import {
  data,
  emptySettings,
  frame,
  framed,
  headers,
  ping,
  request,
  requestFields,
  word,
} from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));
const cancel = (stream: number) => frame(frameType.rstStream, 0, stream, word(errorCode.cancel));
const times = (count: number, make: (n: number) => Uint8Array) => Array.from({ length: count }, (_, n) => make(n));

describe('a flood ends its connection with ENHANCE_YOUR_CALM, and nobody else notices', () => {
  const streamCall = request(1, '/t/Stream');
  test.each<readonly [what: string, frames: () => Uint8Array[]]>([
    ['PING', () => times(7000, () => ping())],
    ['SETTINGS', () => times(7000, () => emptySettings)],
    ['SETTINGS ACK', () => times(7000, () => frame(frameType.settings, flag.ack, 0))],
    ['PRIORITY', () => times(7000, (n) => frame(frameType.priority, 0, 2 * n + 1, Buffer.alloc(5)))],
    ['GOAWAY', () => times(7000, () => frame(frameType.goAway, 0, 0, Buffer.alloc(8)))],
    ['WINDOW_UPDATE', () => times(7000, () => frame(frameType.windowUpdate, 0, 0, word(1)))],
    [
      'WINDOW_UPDATE of a stream',
      () => [streamCall, ...times(7000, () => frame(frameType.windowUpdate, 0, 1, word(1)))],
    ],
    ['empty DATA', () => [streamCall, ...times(7000, () => data(1, Buffer.alloc(0)))]],
    ['padding', () => [streamCall, ...times(7000, () => frame(frameType.data, flag.padded, 1, Buffer.from([1, 0])))]],
    ['frames of unknown types', () => times(7000, () => frame(99, 0, 0))],
    ['empty HEADERS', () => times(7000, (n) => frame(frameType.headers, flag.endHeaders, 2 * n + 1))],
    ['malformed requests', () => times(7000, (n) => headers(2 * n + 1, [['x', 'y']]))],
    ['RST_STREAM on closed streams', () => [request(1), data(1, hello, true), ...times(7000, () => cancel(1))]],
    ['calls that are reset at once', () => times(7000, (n) => Buffer.concat([request(2 * n + 1), cancel(2 * n + 1)]))],
    [
      'streams that are reset',
      () => times(7000, (n) => Buffer.concat([request(2 * n + 1, '/t/Stream'), cancel(2 * n + 1)])),
    ],
  ])('%s', async (_what, frames) => {
    const { client } = await testServer();
    const other = await client();
    const here = await client(emptySettings, ...frames());
    other.write(request(1), data(1, hello, true));
    expect((await other.answer(1)).get('grpc-status')).toBe('0');
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
    await here.closed();
    // What was answered before the end is bounded by the budget.
    expect(here.frames.length).toBeLessThan(1100);
  });

  test('CONTINUATION by the number of its frames', async () => {
    const { client } = await testServer();
    const flood = times(100, () => frame(frameType.continuation, 0, 1));
    const here = await client(emptySettings, frame(frameType.headers, 0, 1), ...flood);
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });

  test('CONTINUATION by its bytes', async () => {
    const { client } = await testServer();
    const flood = times(3, () => frame(frameType.continuation, 0, 1, Buffer.alloc(16_000, 0x82)));
    const here = await client(emptySettings, frame(frameType.headers, 0, 1), ...flood);
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });
});

describe('useful work pays for control frames', () => {
  const limits = { idleFrames: 20, idleFramesPerSecond: 0, resets: 5, resetsPerSecond: 0 };

  test('as many as a client sends beside its calls', async () => {
    const { client } = await testServer({ limits });
    const here = await client();
    for (let n = 0; n < 200; n++) {
      const update = frame(frameType.windowUpdate, 0, 0, word(1));
      here.write(request(2 * n + 1), data(2 * n + 1, hello, true), update, update, ping());
    }
    expect((await here.answer(399)).get('grpc-status')).toBe('0');
    expect(here.isClosed).toBe(false);
  });

  test('as many as a client sends beside the messages of a stream', async () => {
    const { client } = await testServer({ limits });
    const here = await client(emptySettings, request(1, '/t/Stream'));
    for (let n = 0; n < 500; n++) here.write(data(1, hello), frame(frameType.windowUpdate, 0, 0, word(1)), ping());
    here.write(data(1, Buffer.alloc(0), true));
    expect((await here.answer(1)).get('grpc-status')).toBe('0');
  });

  test.each([
    ['are refused', '/t/Hang'],
    ['no method takes', '/t/None'],
  ])('and for what a client sends with calls that %s', async (_what, path) => {
    const { client } = await testServer({ limits: { ...limits, untrustedStreams: 10 } });
    const here = await client();
    for (let n = 0; n < 300; n++) {
      here.write(request(2 * n + 1, path), data(2 * n + 1, hello), data(2 * n + 1, Buffer.alloc(0), true));
    }
    await here.settled();
    expect(here.isClosed).toBe(false);
  });

  test('but not the bytes that a tiny window lets through', async () => {
    const { client } = await testServer({ limits });
    const here = await client(settingsFrame([[settingId.initialWindowSize, 0]]));
    here.write(request(1, '/t/Stream'), data(1, framed(Buffer.alloc(1000))));
    here.write(...times(100, () => frame(frameType.windowUpdate, 0, 1, word(1))));
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });

  test('and for cancelled calls', async () => {
    const { client } = await testServer({ limits });
    const here = await client();
    for (let n = 0; n < 50; n++) {
      here.write(request(4 * n + 1), data(4 * n + 1, hello, true), request(4 * n + 3), cancel(4 * n + 3));
    }
    expect((await here.answer(197)).get('grpc-status')).toBe('0');
    for (let n = 101; n < 108; n++) here.write(request(2 * n + 1), cancel(2 * n + 1));
    expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
  });

  test('a trusted client may cancel as many calls as it may open', async () => {
    const { client } = await testServer({ limits: { ...limits, streams: 100 } });
    const here = await client(emptySettings, request(1, '/t/Trust'), data(1, hello, true));
    for (let n = 1; n <= 100; n++) here.write(request(2 * n + 1, '/t/Stream'));
    for (let n = 1; n <= 100; n++) here.write(cancel(2 * n + 1));
    here.write(request(999), data(999, hello, true));
    expect((await here.answer(999)).get('grpc-status')).toBe('0');
  });
});

/** A request with a field of 133 bytes that is repeated so often by one byte each. */
function bomb(times: number): Buffer {
  const kept = Buffer.concat([Buffer.from([0x40]), encodeFields([['x', 'y'.repeat(100)]]).subarray(1)]);
  const block = Buffer.concat([encodeFields(requestFields('/t/Echo')), kept, Buffer.alloc(times, 0xbe)]);
  return frame(frameType.headers, flag.endHeaders | flag.endStream, 1, block);
}

test('a header list far over its limit ends the connection', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings, bomb(10_000));
  expect(await here.goAway()).toBe(errorCode.enhanceYourCalm);
});

test('a header list over its limit is refused, however few bytes it took', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings, bomb(900));
  const answer = await here.answer(1);
  expect(answer.get('grpc-status')).toBe('8');
  here.write(request(3), data(3, hello, true));
  expect((await here.answer(3)).get('grpc-status')).toBe('0');
});

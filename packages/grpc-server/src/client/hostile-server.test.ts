import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { encodeFields } from '../hpack/encoder.ts';
import { errorCode, flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import type { RawClient } from '../testkit/raw-client.ts';
import { data, emptySettings, frame, framed, headers, ping, word } from '../testkit/raw-client.ts';
import { answer, answerCalls, answerHead, rawServer, trailers } from '../testkit/raw-server.ts';
import { testClient } from '../testkit/test-client.ts';

const hello = Buffer.from('hello');

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** A server that sends this once the first call has come. */
function sends(...frames: readonly Buffer[]) {
  return rawServer((peer) => {
    peer.write(emptySettings);
    void peer.until(({ type }) => type === frameType.data).then(() => peer.write(...frames));
  });
}

const block = (fields: readonly (readonly [string, string])[]) => encodeFields(fields);
const headersFrame = (stream: number, payload: Buffer, flags: number = flag.endHeaders) =>
  frame(frameType.headers, flags, stream, payload);

/** What breaks the rules of the connection: the call ends as unavailable, and so does the connection. */
test.each<[string, readonly Buffer[], number]>([
  ['a frame that is too large', [Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1])], errorCode.frameSizeError],
  ['DATA for the connection', [data(0, hello)], errorCode.protocolError],
  ['DATA for a stream that was not opened', [data(3, hello)], errorCode.protocolError],
  ['HEADERS for a stream that was not opened', [answerHead(5)], errorCode.protocolError],
  ['a stream of the server', [answerHead(2)], errorCode.protocolError],
  ['a push', [frame(frameType.pushPromise, flag.endHeaders, 1, word(2))], errorCode.protocolError],
  ['a header block that is none', [headersFrame(1, Buffer.from([0x80]))], errorCode.compressionError],
  ['a header block of another stream between', [headersFrame(1, hello, 0), ping()], errorCode.protocolError],
  ['CONTINUATION without a beginning', [frame(frameType.continuation, 0, 1, hello)], errorCode.protocolError],
  [
    'a header block without an end',
    [headersFrame(1, hello, 0), ...Array.from({ length: 20 }, () => frame(frameType.continuation, 0, 1, hello))],
    errorCode.enhanceYourCalm,
  ],
  ['SETTINGS for a stream', [frame(frameType.settings, 0, 1, Buffer.alloc(0))], errorCode.protocolError],
  ['SETTINGS cut off', [frame(frameType.settings, 0, 0, hello)], errorCode.frameSizeError],
  ['a window that is too large', [settingsFrame([[settingId.initialWindowSize, 2 ** 31]])], errorCode.flowControlError],
  ['a window that grows by nothing', [frame(frameType.windowUpdate, 0, 1, word(0))], errorCode.flowControlError],
  ['a window of all that grows by nothing', [frame(frameType.windowUpdate, 0, 0, word(0))], errorCode.protocolError],
  [
    'a window that grows too large',
    [frame(frameType.windowUpdate, 0, 0, word(2 ** 31 - 1))],
    errorCode.flowControlError,
  ],
  ['PING of another size', [frame(frameType.ping, 0, 0, hello)], errorCode.frameSizeError],
  ['PING for a stream', [frame(frameType.ping, 0, 1, Buffer.alloc(8))], errorCode.protocolError],
  ['GOAWAY cut off', [frame(frameType.goAway, 0, 0, hello)], errorCode.frameSizeError],
  ['RST_STREAM cut off', [frame(frameType.rstStream, 0, 1, hello)], errorCode.frameSizeError],
])('%s ends the connection', async (_, frames, code) => {
  let said: number | undefined;
  const server = await rawServer((peer, nth) => {
    if (nth > 1) return void answerCalls(peer, (stream) => answer(stream, hello));
    peer.write(emptySettings);
    void peer.until(({ type }) => type === frameType.data).then(() => peer.write(...frames));
    void peer.goAway().then((goAway) => (said = goAway));
  });
  const { call } = testClient({ address: server.address });
  expect(await call('/t/Echo')).toMatchObject({ code: 14 });
  await expect.poll(() => said).toBe(code);
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
});

test('what is not HTTP/2 is no server', async () => {
  for (const bytes of ['HTTP/1.1 400 Bad Request\r\n\r\n', 'SSH-2.0-x\r\n', '\0\0\0\u0001\0\0\0\0\u0001']) {
    const server = await rawServer((peer) => peer.write(Buffer.from(bytes.padEnd(40), 'latin1')));
    const outcome = await testClient({ address: server.address, limits: { connectWithinMs: 200 } }).call('/t/Echo');
    expect(outcome).toMatchObject({ code: 14, message: expect.stringMatching(/^No connection established/) });
  }
});

/** What breaks the rules of one call: others go on. */
test.each<[string, readonly Buffer[], number]>([
  ['a message before the head', [data(1, framed(hello))], 13],
  ['a head without :status', [headersFrame(1, block([['content-type', 'application/grpc']]))], 13],
  ['a second head', [answerHead(1), answerHead(1)], 13],
  [
    'a page',
    [
      headers(1, [
        [':status', '200'],
        ['content-type', 'text/html'],
      ]),
      data(1, Buffer.from('<html>'), true),
    ],
    2,
  ],
  ['a page of a proxy', [headers(1, [[':status', '503']]), data(1, Buffer.from('<html>'), true)], 14],
  ['a redirect', [headers(1, [[':status', '302']], true)], 2],
  ['a head that is too large', [answerHead(1, ...Array.from({ length: 600 }, () => ['x', 'y'] as const))], 8],
  ['a message that is too large', [answerHead(1), data(1, framed(hello, 5_000_000))], 8],
  ['a compressed message', [answerHead(1), data(1, framed(hello, 5, true))], 13],
  ['no message', [answerHead(1), trailers(1)], 12],
  ['two messages', [answerHead(1), data(1, framed(hello)), data(1, framed(hello)), trailers(1)], 12],
  ['half a message', [answerHead(1), data(1, framed(hello, 9)), trailers(1)], 12],
  ['an end without a status', [answerHead(1), data(1, framed(hello), true)], 13],
  ['trailers without a status', [answerHead(1), data(1, framed(hello)), headers(1, [['x', 'y']], true)], 13],
  ['a status that is no number', [answerHead(1), trailers(1, 'fine')], 2],
  ['a failure after the message', [answerHead(1), data(1, framed(hello)), trailers(1, '5')], 5],
  [
    'only a status',
    [
      headers(
        1,
        [
          [':status', '200'],
          ['grpc-status', '7'],
          ['grpc-message', 'a%20%zz%e2%82%ac'],
        ],
        true,
      ),
    ],
    7,
  ],
])('%s fails its call alone', async (name, frames, code) => {
  const server = await sends(...frames, answerHead(1), data(1, framed(hello), true), answer(3, hello));
  const { call } = testClient({ address: server.address });
  const outcome = await Promise.all([call('/t/Echo'), call('/t/Echo')]);
  expect(outcome).toMatchObject([
    { code, answer: undefined },
    { code: 0, answer: hello },
  ]);
  if (name === 'only a status') expect(outcome[0]?.message).toBe('a %zz€');
  expect(server.connections).toBe(1);
});

test('an informational answer comes before the one that counts', async () => {
  const server = await sends(headers(1, [[':status', '103']]), answer(1, hello));
  expect(await testClient({ address: server.address }).call('/t/Echo')).toMatchObject({ code: 0, answer: hello });
});

test('a header list that grows out of few bytes ends the connection', async () => {
  // One entry of the table, and then many references to it.
  const entry = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'y')]);
  const server = await sends(headersFrame(1, Buffer.concat([entry, Buffer.alloc(200, 0xbe)])));
  expect(await testClient({ address: server.address }).call('/t/Echo')).toMatchObject({ code: 14 });
});

test('a server that asks and does not read is cut off', async () => {
  let peerOf: RawClient | undefined;
  const server = await rawServer((peer) => {
    peerOf = peer;
    peer.write(emptySettings);
    peer.socket.pause();
    const flood = setInterval(() => {
      if (peer.socket.destroyed) clearInterval(flood);
      else if (peer.socket.writableLength === 0) peer.write(...Array.from({ length: 5000 }, () => ping()));
    }, 1);
    peer.socket.on('error', () => clearInterval(flood));
  });
  const { call } = testClient({ address: server.address, limits: { owedAnswers: 100 } });
  expect(await call('/t/Echo', Buffer.alloc(1000))).toMatchObject({
    code: 14,
    message: 'the server does not read what it asks for',
  });
  peerOf?.destroy();
});

test('unfinished messages of all calls together have a bound', async () => {
  const server = await sends(
    ...[1, 3, 5].flatMap((stream) => [answerHead(stream), data(stream, framed(hello, 60_000))]),
  );
  const { call } = testClient({ address: server.address, limits: { unfinishedBytes: 150_000 } });
  const outcomes = await Promise.all([call('/t/Echo'), call('/t/Echo'), call('/t/Echo')]);
  expect(outcomes.map(({ code }) => code)).toEqual([14, 14, 14]);
});

test('a message that is refused for its length makes no room for others', async () => {
  const tooLong = framed(hello, 4_000_000_000);
  const server = await sends(
    answerHead(1),
    data(1, tooLong.subarray(0, 3)),
    data(1, tooLong.subarray(3)),
    ...[3, 5, 7].flatMap((stream) => [answerHead(stream), data(stream, framed(hello, 60_000))]),
  );
  const { call } = testClient({ address: server.address, limits: { unfinishedBytes: 150_000 } });
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => call('/t/Echo', hello, { timeoutMs: 5000 })));
  expect(outcomes.map(({ code }) => code)).toEqual([8, 14, 14, 14]);
});

test('calls that end while the server takes none are let go', async () => {
  const server = await rawServer((peer) => peer.write(settingsFrame([[settingId.maxConcurrentStreams, 0]])));
  const { client, call } = testClient({ address: server.address });
  expect(await call('/t/Echo', hello, { timeoutMs: 200 })).toMatchObject({ code: 4 });
  const listeners: WeakRef<object>[] = [];
  for (let at = 0; at < 5000; at++) {
    const done = () => undefined;
    listeners.push(new WeakRef(done));
    client.unary('/t/Echo', hello, {}, done).cancel();
  }
  await new Promise(setImmediate);
  collectGarbage();
  expect(listeners.filter((listener) => listener.deref() !== undefined).length).toBeLessThan(2500);
});

test('what comes for a call that is over is dropped, and its bytes are granted again', async () => {
  const late = Array.from({ length: 400 }, () => data(1, Buffer.alloc(16_000)));
  let granted = () => 0;
  const server = await rawServer((peer) => {
    peer.write(emptySettings);
    void (async () => {
      await peer.reset(1);
      const before = peer.granted(0);
      granted = () => peer.granted(0) - before;
      peer.write(...late, answerHead(1), trailers(1));
      await peer.until(({ stream, type }) => stream === 3 && type === frameType.data);
      peer.write(answer(3, hello));
    })();
  });
  const { call } = testClient({ address: server.address });
  expect(await call('/t/Echo', hello, { timeoutMs: 500 })).toMatchObject({ code: 4 });
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
  await expect.poll(granted).toBeGreaterThan(4_000_000);
});

import { expect, test } from 'vitest';
import { goAwayFrame } from '../http2/control-frames.ts';
import { errorCode, flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { GrpcServer } from '../index.ts';
import { data, emptySettings, frame, framed, ping, word } from '../testkit/raw-client.ts';
import { answer, answerCalls, answerHead, rawServer, trailers } from '../testkit/raw-server.ts';
import { testClient } from '../testkit/test-client.ts';
import { afterwards, testServer } from '../testkit/test-server.ts';

const hello = Buffer.from('hello');

test('connects with the first call, by one connection for all', async () => {
  const server = await rawServer((peer) => void answerCalls(peer, (stream) => answer(stream, hello)));
  const { client, call } = testClient({ address: server.address });
  expect([client.isConnected, server.connections]).toEqual([false, 0]);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => call('/t/Echo')));
  expect(outcomes.every(({ code, answer: got }) => code === 0 && got?.equals(hello))).toBe(true);
  expect([client.isConnected, server.connections]).toEqual([true, 1]);
});

test('connects without a call, and says why where that fails', async () => {
  const server = await rawServer((peer) => void answerCalls(peer, (stream) => answer(stream, hello)));
  const { client, call } = testClient({ address: server.address });
  await Promise.all([client.connect(), client.connect()]);
  await client.connect();
  expect([client.isConnected, server.connections]).toEqual([true, 1]);
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
  expect(server.connections).toBe(1);

  const gone = await testServer();
  await gone.server.drain(0);
  const { client: away } = testClient({ address: `127.0.0.1:${gone.port}`, limits: { firstBackoffMs: 5 } });
  await expect(away.connect()).rejects.toThrow(`connect ECONNREFUSED 127.0.0.1:${gone.port}`);
  await expect(away.connect()).rejects.toThrow('ECONNREFUSED');

  const silent = await rawServer(() => {});
  const { client: patient } = testClient({ address: silent.address, limits: { connectWithinMs: 50 } });
  await expect(patient.connect()).rejects.toThrow('no connection within 50 ms');
  const waiting = patient.connect();
  patient.close();
  await expect(waiting).rejects.toThrow('Channel closed before call started');
  await expect(patient.connect()).rejects.toThrow('Channel closed before call started');
});

test('a server that is away fails calls at once, but for those that wait for it', async () => {
  const { server, port } = await testServer();
  await server.drain(0);
  const { call } = testClient({ address: `127.0.0.1:${port}`, limits: { firstBackoffMs: 5, longestBackoffMs: 20 } });
  const first = await call('/t/Echo');
  expect(first).toMatchObject({
    code: 14,
    message: `No connection established. Last error: connect ECONNREFUSED 127.0.0.1:${port}`,
  });
  expect(await call('/t/Echo')).toMatchObject({
    code: 14,
    message: expect.stringContaining('No connection established'),
  });
  const inVain = call('/t/Echo', hello, { waitForReady: true, timeoutMs: 60 });
  expect(await inVain).toMatchObject({ code: 4, message: 'No connection established in time' });
  const waiting = call('/t/Echo', hello, { waitForReady: true });
  const back = new GrpcServer({
    unary: new Map([['/t/Echo', (message, one) => one.answer(message)]]),
    stream: new Map(),
    statusOf: () => ({ code: 13, message: '' }),
  });
  await back.listen('127.0.0.1', port);
  afterwards(() => back.drain(0));
  expect(await waiting).toMatchObject({ code: 0, answer: hello });
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
});

test('a server that takes connections and says nothing is given up', async () => {
  const server = await rawServer(() => {});
  const { client, call } = testClient({ address: server.address, limits: { connectWithinMs: 50 } });
  expect(await call('/t/Echo')).toMatchObject({
    code: 14,
    message: expect.stringContaining('no connection within 50 ms'),
  });
  expect(client.isConnected).toBe(false);
});

test('a lost connection fails what was sent, and the next call makes another', async () => {
  const server = await rawServer((peer, nth) => {
    if (nth > 1) return void answerCalls(peer, (stream) => answer(stream, hello));
    peer.write(emptySettings);
    void peer.until(({ type }) => type === frameType.data).then(() => peer.destroy());
  });
  const { call } = testClient({ address: server.address });
  expect(await call('/t/Echo')).toMatchObject({ code: 14, message: expect.stringContaining('Connection dropped') });
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
});

test('GOAWAY: what was seen is answered, what was not goes out again elsewhere, and the connection closes', async () => {
  let isClosed = false;
  const server = await rawServer((peer, nth) => {
    if (nth > 1) return void answerCalls(peer, (stream) => answer(stream, Buffer.from('second')));
    void (async () => {
      peer.write(emptySettings);
      await peer.until(({ stream, type }) => stream === 3 && type === frameType.data);
      peer.write(goAwayFrame(1, errorCode.noError, ''));
      await peer.settled();
      peer.write(answer(1, Buffer.from('first')));
      await peer.closed();
      isClosed = true;
    })();
  });
  const { client, call } = testClient({ address: server.address });
  const opened: string[] = [];
  const streamed = new Promise<number>((resolve) => {
    // Both wait for the connection, so the first gets stream 1 and the second stream 3.
    void call('/t/Echo').then((outcome) => opened.push(`unary ${String(outcome.answer)}`));
    const stream = client.stream(
      '/t/Stream',
      {},
      { message: (bytes) => opened.push(`stream ${String(bytes)}`), ended: ({ code }) => resolve(code) },
    );
    stream.send(hello);
    stream.end();
  });
  expect(await streamed).toBe(0);
  await expect.poll(() => opened.toSorted()).toEqual(['stream second', 'unary first']);
  await expect.poll(() => isClosed).toBe(true);
  expect(server.connections).toBe(2);
});

test('a refused call goes out again once', async () => {
  const refuse = (stream: number) => frame(frameType.rstStream, 0, stream, word(errorCode.refusedStream));
  const server = await rawServer((peer) => {
    void answerCalls(peer, (stream) => (stream === 3 ? answer(3, hello) : refuse(stream)));
  });
  const { call } = testClient({ address: server.address });
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
  expect(await call('/t/Echo')).toMatchObject({ code: 14, message: 'Stream refused by server' });
});

test.each([
  [errorCode.noError, 13],
  [errorCode.internalError, 13],
  [errorCode.cancel, 1],
  [errorCode.enhanceYourCalm, 8],
  [errorCode.inadequateSecurity, 7],
])('a reset with code %i is status %i', async (reset, code) => {
  const server = await rawServer((peer) => {
    void answerCalls(peer, (stream) => frame(frameType.rstStream, 0, stream, word(reset)));
  });
  expect(await testClient({ address: server.address }).call('/t/Echo')).toMatchObject({ code });
});

test('a server that notices the deadline first says the same as the client would', async () => {
  const timeoutMs = 300;
  const server = await rawServer((peer) => {
    peer.write(emptySettings);
    void (async () => {
      await peer.until(({ type }) => type === frameType.data);
      // The deadline has just passed, and the timers of this process had no turn since.
      while (performance.now() < started + timeoutMs + 1) continue;
      peer.write(frame(frameType.rstStream, 0, 1, word(errorCode.cancel)));
    })();
  });
  const { call } = testClient({ address: server.address });
  const started = performance.now();
  expect(await call('/t/Echo', hello, { timeoutMs })).toMatchObject({ code: 4 });
});

test('no more calls go out at a time than the server takes', async () => {
  let most = 0;
  const server = await rawServer((peer) => {
    peer.write(settingsFrame([[settingId.maxConcurrentStreams, 2]]));
    void (async () => {
      for (let stream = 1; ; stream += 2) {
        if ((await peer.until((it) => it.stream === stream && it.type === frameType.data)) === undefined) return;
        await peer.settled(`ping${String(stream).padStart(4)}`);
        const heads = peer.frames.filter(({ type }) => type === frameType.headers).length;
        most = Math.max(most, heads - (stream - 1) / 2);
        peer.write(answer(stream, hello));
      }
    })();
  });
  const { call } = testClient({ address: server.address });
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => call('/t/Echo')));
  expect([most, outcomes.filter(({ code }) => code === 0).length]).toEqual([2, 20]);
});

test('sends no more than the windows of the server, and goes on as they grow', async () => {
  const sent = (frames: readonly { type: number; payload: Buffer }[]) =>
    frames.filter(({ type }) => type === frameType.data).reduce((sum, { payload }) => sum + payload.length, 0);
  let early = 0;
  const server = await rawServer((peer) => {
    void (async () => {
      peer.write(settingsFrame([[settingId.initialWindowSize, 10]]));
      await peer.until(() => sent(peer.frames) >= 10);
      await peer.settled();
      early = sent(peer.frames);
      peer.write(
        settingsFrame([[settingId.initialWindowSize, 100_000]]),
        frame(frameType.windowUpdate, 0, 0, word(1e6)),
      );
      await peer.until(({ type, flags }) => type === frameType.data && (flags & flag.endStream) !== 0);
      peer.write(answer(1, Buffer.from(String(sent(peer.frames)))));
    })();
  });
  const outcome = await testClient({ address: server.address }).call('/t/Echo', Buffer.alloc(90_000));
  expect([early, String(outcome.answer)]).toEqual([10, '90005']);
});

test('a silent server is asked whether it is there, and left if it does not answer', async () => {
  let pings = 0;
  const server = await rawServer((peer) => {
    peer.write(emptySettings);
    void peer.until(({ type }) => type === frameType.ping).then(() => pings++);
  });
  const limits = { keepaliveMs: 20, keepaliveTimeoutMs: 40 };
  const { call } = testClient({ address: server.address, limits });
  expect(await call('/t/Echo')).toMatchObject({ code: 14, message: expect.stringContaining('does not answer') });
  expect(pings).toBe(1);
});

test('pings are answered, and calls go on over any number of reads', async () => {
  const server = await rawServer((peer) => {
    void (async () => {
      peer.write(emptySettings);
      await peer.until(({ type }) => type === frameType.data);
      await peer.settled();
      const all = Buffer.concat([
        ping('x'.repeat(8)),
        answerHead(1),
        data(1, framed(hello).subarray(0, 7)),
        data(1, framed(hello).subarray(7)),
        trailers(1),
      ]);
      for (const byte of all) peer.write(Buffer.from([byte]));
    })();
  });
  expect(await testClient({ address: server.address }).call('/t/Echo')).toMatchObject({ code: 0, answer: hello });
});

test('after close, calls that are out are answered, those that wait fail, and the connection goes', async () => {
  const { server, port, events } = await testServer({
    unary: { '/t/Late': (message, call) => void setTimeout(() => call.answer(message), 100) },
  });
  const { client, call } = testClient({ address: `127.0.0.1:${port}` });
  expect(await call('/t/Echo')).toMatchObject({ code: 0 });
  const late = call('/t/Late');
  client.close();
  expect(client.isConnected).toBe(false);
  expect(await call('/t/Echo')).toMatchObject({ code: 14, message: 'Channel closed before call started' });
  expect(await late).toMatchObject({ code: 0 });
  await server.drain(60_000);
  expect(events).toEqual([]);
  const unconnected = testClient({ address: `127.0.0.1:${port}` });
  const waiting = unconnected.call('/t/Echo');
  unconnected.client.close();
  expect(await waiting).toMatchObject({ code: 14, message: 'Channel closed before call started' });
});

test('a server that takes no calls at a time keeps none back after close', async () => {
  let isClosed = false;
  const server = await rawServer((peer) => {
    peer.write(settingsFrame([[settingId.maxConcurrentStreams, 0]]));
    void peer.closed().then(() => (isClosed = true));
  });
  const { client, call } = testClient({ address: server.address });
  const waiting = call('/t/Echo');
  await expect.poll(() => client.isConnected).toBe(true);
  client.close();
  expect(await waiting).toMatchObject({ code: 14, message: 'Channel closed before call started' });
  await expect.poll(() => isClosed).toBe(true);
});

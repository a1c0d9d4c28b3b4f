import { expect, test } from 'vitest';
import { errorCode, flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import type { RawClient } from '../testkit/raw-client.ts';
import { data, emptySettings, frame, headers, requestFields, word } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { notGrpc } from './response-blocks.ts';

type Fields = readonly (readonly [string, string])[];

const json: Fields = [...requestFields('/t/Echo').slice(0, 4), ['content-type', 'application/json']];
const by = (method: string): Fields => [[':method', method], ...json.slice(1)];
const kibibytes = (count: number) => Buffer.alloc(count * 1024);
const hasAnswer = (client: RawClient) => client.frames.some(({ type }) => type === frameType.headers);

test('a request that is not gRPC is told at its end what this server is', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings, headers(1, json), data(1, Buffer.from('{"a":')));
  await here.settled();
  expect(hasAnswer(here)).toBe(false);
  here.write(data(1, Buffer.from('1}'), true));
  expect(await here.answer(1)).toEqual(
    new Map([
      [':status', '415'],
      ['content-type', 'text/plain'],
      ['content-length', String(notGrpc.length)],
    ]),
  );
  expect(here.content(1)).toEqual(notGrpc);
  expect(here.frames.some(({ type }) => type === frameType.rstStream)).toBe(false);
});

test('405 names the method that is allowed, and an answer to HEAD has no content', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings, headers(1, by('HEAD'), true));
  const answer = await here.answer(1);
  expect([answer.get(':status'), answer.get('allow')]).toEqual(['405', 'POST']);
  expect(here.frames.some(({ type }) => type === frameType.data)).toBe(false);
});

test('a request for a tunnel is answered at once, because it waits for that', async () => {
  const { client } = await testServer();
  const tunnel: Fields = [
    [':method', 'CONNECT'],
    [':authority', 'a:1'],
  ];
  const here = await client(emptySettings, headers(1, tunnel));
  expect((await here.answer(1)).get(':status')).toBe('405');
  expect(await here.reset(1)).toBe(errorCode.noError);
});

test('the answer goes only as far as the windows let it, and ends with an empty frame', async () => {
  const { client } = await testServer();
  const here = await client(settingsFrame([[settingId.initialWindowSize, 1]]), headers(1, by('GET'), true));
  await here.settled();
  expect(here.content(1).length).toBe(1);
  here.write(frame(frameType.windowUpdate, 0, 1, word(notGrpc.length - 1)));
  await here.answer(1);
  expect(here.content(1)).toEqual(notGrpc);
  expect(here.frames.filter(({ type }) => type === frameType.data).map(({ flags }) => flags)).toEqual([
    0,
    0,
    flag.endStream,
  ]);
});

test('a body of 64 KiB may end by itself, and a longer one is answered before its end', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings);
  const parts = (id: number) => [0, 1, 2].map(() => data(id, kibibytes(16)));
  for (const id of [1, 3]) {
    // The window of 64 KiB less one byte is widened before it is used up.
    here.write(headers(id, json), ...parts(id), data(id, kibibytes(15)), data(id, Buffer.alloc(800)));
    await here.until(({ type, stream }) => type === frameType.windowUpdate && stream === id);
  }
  here.write(data(1, Buffer.alloc(224), true));
  expect((await here.answer(1)).get(':status')).toBe('415');
  expect(hasAnswer(here)).toBe(true);
  here.write(data(3, Buffer.alloc(225)));
  expect(await here.reset(3)).toBe(errorCode.noError);
  expect(here.content(3)).toEqual(notGrpc);
  expect(here.granted(3)).toBeLessThan(2048);
});

test.each<[string, Fields, Uint8Array, number]>([
  ['a body longer than it says', [...json, ['content-length', '1']], data(1, Buffer.from('{}')), 1],
  ['a body shorter than it says', [...json, ['content-length', '3']], data(1, Buffer.from('{}'), true), 1],
  ['a second head', json, headers(1, json), 1],
  ['pseudo-header fields as trailers', json, headers(1, json, true), 1],
  ['a window that grows by nothing', json, frame(frameType.windowUpdate, 0, 1, word(0)), 1],
  ['a window over 2^31-1', json, frame(frameType.windowUpdate, 0, 1, word(2 ** 31 - 1)), 3],
])('%s is an error of its stream', async (_what, fields, bytes, code) => {
  const { client } = await testServer();
  const here = await client(emptySettings, headers(1, fields), bytes);
  expect(await here.reset(1)).toBe(code);
  expect(hasAnswer(here)).toBe(false);
});

test('a body that does not come to its end is cut off', async () => {
  const { client } = await testServer({ limits: { finishWithinMs: 50 } });
  const here = await client(emptySettings, headers(1, json));
  expect(await here.reset(1)).toBe(errorCode.enhanceYourCalm);
});

test('a timeout of gRPC says nothing about it', async () => {
  const { client } = await testServer();
  const here = await client(emptySettings, headers(1, [...json, ['grpc-timeout', '1n']]));
  await here.settled();
  here.write(data(1, Buffer.from('{}'), true));
  expect((await here.answer(1)).get(':status')).toBe('415');
});

test('requests that are not gRPC count as calls while they are open', async () => {
  const { client } = await testServer({ limits: { untrustedStreams: 2 } });
  const here = await client(emptySettings, headers(1, json), headers(3, json), headers(5, json));
  expect(await here.reset(5)).toBe(errorCode.refusedStream);
});

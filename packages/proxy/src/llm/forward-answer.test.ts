import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { CallStop } from './call-stop.ts';
import { openaiChat } from './dialect/openai-chat.ts';
import { forwardAnswer } from './forward-answer.ts';
import { HeldBytes } from './held-bytes.ts';
import type { ModelCall } from './model-call.ts';
import type { CallOperation } from './settlement.ts';

const apiKey = 'sk-provider';
const stars = '*'.repeat(apiKey.length);

/** What the client gets of an answer that comes in these parts. */
async function passed(parts: readonly string[], room: number): Promise<string> {
  const answer = Object.assign(Readable.from(slowly(parts), { objectMode: false }), { statusCode: 401, headers: {} });
  const response = Object.assign(new PassThrough(), { writeHead: () => {} });
  const call = {
    response,
    upstream: { apiKey },
    route: { path: '/v1/chat/completions', dialect: openaiChat },
    passed: { isStream: false, last: undefined, textBytes: 0 },
    answerRoom: new HeldBytes({ most: room / 2, mostTogether: room }).roomFor('a'),
    opId: '',
  };
  const stop = { alive: () => {}, passable: async () => {}, signal: new AbortController().signal };
  const operation = { answer: { judgeResult: false } };
  const got = text(response);
  await forwardAnswer(
    call as unknown as ModelCall,
    Object.assign(answer, { rawHeaders: [], headersDistinct: {} }) as unknown as IncomingMessage,
    stop as unknown as CallStop,
    operation as unknown as CallOperation,
  );
  return got;
}

/** Each in a turn of its own, so that they are taken one by one. */
async function* slowly(parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    yield Buffer.from(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test.each([
  ['is held', Number.MAX_SAFE_INTEGER],
  ['finds no room', 0],
  ['finds no room midway', 150],
])("an answer that %s does not give the upstream's key away, however it is cut", async (_how, room) => {
  const begin = '{"error":"no such key: ';
  const expected = `${begin}${stars} sk-"}`;
  expect(await passed([`${begin}${apiKey} sk-"}`], room)).toBe(expected);
  expect(await passed([begin, apiKey, ' sk-', '"}'], room)).toBe(expected);
  expect(await passed([`${begin}sk-pro`, 'vider sk-"}'], room)).toBe(expected);
  expect(await passed([begin, ...`${apiKey} sk-"}`.split('')], room)).toBe(expected);
  expect(await passed([`${begin}${apiKey.slice(0, -1)}`], room)).toBe(`${begin}${apiKey.slice(0, -1)}`);
});

test('nor does one that is too large to be held', async () => {
  const large = `{"x":"${apiKey}${' '.repeat(8 * 1024 * 1024)}`;
  const got = await passed([`${large}${apiKey}sk-pro`, `vider sk-"}`], Number.MAX_SAFE_INTEGER);
  expect(got === `${large.replace(apiKey, stars)}${stars}${stars} sk-"}`).toBe(true);
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddText } from '../../../test/odd-text.ts';
import { parseRequest } from '../json-request.ts';
import { askedBy } from '../model-call.ts';
import { modelConfigOf } from '../model-config.ts';
import { Refusal } from '../refusal.ts';
import { callRouteOf } from '../routes.ts';
import { anthropicCountTokens } from './anthropic-count-tokens.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const [upstream] = modelConfigOf(
  { upstreams: [{ name: 'u', kind: 'openai', base_url: 'http://x', models: ['**'], max_output_tokens: 777 }] },
  () => undefined,
);

const request = (value: unknown) => parseRequest(Buffer.from(JSON.stringify(value)));

function askedOf(path: string, members: object) {
  const route = callRouteOf(path);
  if (route === undefined) throw new Error(`no route ${path}`);
  return askedBy(route, request({ model: 'm', ...members }), upstream).maxOutputTokens;
}

test.each([
  ['/v1/chat/completions', {}, 777],
  ['/v1/chat/completions', { max_tokens: 5 }, 5],
  ['/v1/chat/completions', { max_tokens: null, max_completion_tokens: 6 }, 6],
  ['/v1/chat/completions', { max_tokens: 500, max_completion_tokens: 6 }, 500],
  ['/v1/chat/completions', { max_tokens: 5, n: 3 }, 15],
  ['/v1/chat/completions', { n: 2 }, 1554],
  ['/v1/responses', { max_output_tokens: 9 }, 9],
  ['/v1/responses', { max_tokens: 9 }, 777],
  ['/v1/messages', { max_tokens: 4 }, 4],
  ['/v1/embeddings', { input: 'x' }, 0],
  ['/v1/messages/count_tokens', {}, 0],
  ['/v1/messages/count_tokens', { max_tokens: 4 }, 0],
  ['/v1/chat/completions', { max_tokens: 1e15, n: 9 }, 2_147_483_647],
])('%s with %j may put out %d tokens', (path, members, tokens) => {
  expect(askedOf(path, members)).toBe(tokens);
});

test.each([{ max_tokens: '5' }, { max_tokens: -1 }, { max_tokens: 1.5 }, { n: 0 }, { max_completion_tokens: {} }])(
  '%j says no maximum that could be reserved',
  (members) => {
    expect(() => askedOf('/v1/chat/completions', members)).toThrow(Refusal);
  },
);

test.each([
  ['/v1/chat/completions', 'max_tokens', '9007199254740993'],
  ['/v1/chat/completions', 'max_completion_tokens', '4.0000000000000000001'],
  ['/v1/chat/completions', 'n', '1.00000000000000000001'],
  ['/v1/chat/completions', 'n', '1e400'],
  ['/v1/responses', 'max_output_tokens', '12345678901234567'],
  ['/v1/messages', 'max_tokens', '0.99999999999999999999'],
])('%s is refused with %s: %s, which some readers round', (path, key, written) => {
  const route = callRouteOf(path);
  const body = Buffer.from(`{"model":"m","messages":[{"content":12345678901234567}],"${key}": ${written} ,"z":1}`);
  expect(() => route === undefined || askedBy(route, parseRequest(body), upstream)).toThrow(
    /not the same to every reader|whole number/,
  );
});

test.each(['1e2', '100.0', '100'])('%s is a hundred to every reader', (written) => {
  const route = callRouteOf('/v1/messages');
  const body = Buffer.from(`{"model":"m","max_tokens":${written}}`);
  expect(route === undefined ? 0 : askedBy(route, parseRequest(body), upstream).maxOutputTokens).toBe(100);
});

test.each([
  '{"model":"m","Model":"x"}',
  '{"model":"m","Max_tokens":9}',
  '{"model":"m","me\u017f\u017fages":[]}',
  '{"model":"m","STREAM":true}',
  '{"model":"m","models":["x"]}',
  '{"model":"m","Fallbacks":["x"]}',
  '{"model":"m","stream":1}',
  '{"model":"m","stream":"true"}',
  '{"model":"m","stream":true,"stream_options":{"include_usage":false,"include_usage":true}}',
  '{"model":"m","stream":true,"stream_options":{"include_usage":true,"Include_Usage":false}}',
  `{"model":"m","a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
])('a body that upstreams may understand differently is refused: %#', (text) => {
  expect(() => openaiChat.bodyFor(parseRequest(Buffer.from(text)))).toThrow(Refusal);
});

test('a stream asks for its usage once', () => {
  const asked = { model: 'm', stream: true, stream_options: { Include_Usage: false, other: 1 } };
  const { stream_options: options } = JSON.parse(openaiChat.bodyFor(request(asked)).toString()) as typeof asked;
  expect(options).toEqual({ other: 1, include_usage: true });
});

test('a stream asks for its usage, and every other byte of the body stays', () => {
  const member = fc.tuple(
    oddText.map((key) => `x${key}`),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(
      fc.array(member),
      fc.constantFrom(undefined, 2),
      fc.integer({ min: 0, max: 2 }),
      (members, indent, how) => {
        const options = [undefined, { include_usage: false, include_obfuscation: false }, null][how];
        const stream = { stream: true, ...(options === undefined ? {} : { stream_options: options }) };
        const text = JSON.stringify({ ...Object.fromEntries(members), model: 'm', ...stream, z: 1 }, undefined, indent);
        const parsed = parseRequest(Buffer.from(text));
        const sent = openaiChat.bodyFor(parsed).toString();
        const expected = { ...parsed.value, stream_options: { ...options, include_usage: true } };
        expect(JSON.parse(sent)).toEqual(JSON.parse(JSON.stringify(expected)));
        if (how === 0) expect(sent.replace(',"stream_options":{"include_usage":true}', '')).toBe(text);
      },
    ),
  );
});

test.each([
  { stream: true, stream_options: { include_usage: true } },
  { stream: false },
  { stream: true, stream_options: 'odd' },
  {},
])('a body with %j stays as it is', (members) => {
  const parsed = request({ model: 'm', ...members });
  expect(openaiChat.bodyFor(parsed)).toBe(parsed.body);
});

test('the chunk that only tells the usage is kept from a client that did not ask, and no other', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } };
  const quiet = openaiChat.readerFor(request({ model: 'm', stream: true }));
  expect(quiet.take({ choices: [{ delta: { content: 'x' } }], usage: null })).toBe(false);
  expect(quiet.take({ choices: [], prompt_filter_results: [], usage: null })).toBe(false);
  expect(quiet.usage).toBeUndefined();
  expect(quiet.take({ choices: [], usage })).toBe(true);
  expect(quiet.usage).toEqual({ inputTokens: 10, outputTokens: 4, cachedInputTokens: 3, isFinal: true });
  expect(quiet.take({ choices: [{ delta: {} }], usage })).toBe(false);
  const asking = openaiChat.readerFor(request({ model: 'm', stream: true, stream_options: { include_usage: true } }));
  expect(asking.take({ choices: [], usage })).toBe(false);
});

test('cached tokens are a part of the input, whatever the provider calls input', () => {
  const usage = { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
  const expected = { inputTokens: 117, outputTokens: 4, cachedInputTokens: 100, isFinal: true };
  expect(anthropicMessages.usageOf({ usage })).toEqual(expected);
  const reader = anthropicMessages.readerFor(request({ model: 'm' }));
  reader.take({ type: 'message_start', message: { usage: { ...usage, output_tokens: 1 } } });
  expect(reader.usage).toEqual({ ...expected, outputTokens: 1, isFinal: false });
  reader.take({ type: 'message_delta', delta: {}, usage: { output_tokens: 4, input_tokens: null } });
  expect(reader.usage).toEqual(expected);
  const response = { usage: { input_tokens: 9, output_tokens: 2, input_tokens_details: { cached_tokens: 5 } } };
  const last = openaiResponses.readerFor(request({ model: 'm' }));
  last.take({ type: 'response.created', response: { usage: null } });
  last.take({ type: 'response.completed', response });
  expect(last.usage).toEqual({ inputTokens: 9, outputTokens: 2, cachedInputTokens: 5, isFinal: true });
});

test('garbage is no usage, and nothing throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (usage, other) => {
      for (const dialect of [openaiChat, openaiResponses, anthropicMessages]) {
        const reader = dialect.readerFor(request({ model: 'm', stream: true }));
        for (const data of [
          { usage },
          { type: 'message_start', message: { usage } },
          { response: other, choices: other },
        ]) {
          reader.take(data);
          const seen = [reader.usage, dialect.usageOf(data)];
          for (const each of seen) if (each !== undefined) expect(each.inputTokens).toBeGreaterThanOrEqual(0);
        }
      }
    }),
  );
});

test.each([
  ['{"model":"a","model":"b"}', 'twice'],
  ['[]', 'must be a JSON object'],
  ['{"model":""}', 'model'],
  ['{"model":7}', 'model'],
  [`{"model":"${'x'.repeat(513)}"}`, 'longer than 512'],
  ['{"model":"a"', 'not valid JSON'],
  ['\ufeff{"model":"a"}', 'not valid JSON'],
])('%s is refused', (text, message) => {
  expect(() => parseRequest(Buffer.from(text))).toThrow(message);
});

test('a body that is no UTF-8 is refused: readers would disagree on what it says', () => {
  expect(() => parseRequest(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow('UTF-8');
});

test('counting is free, unless the upstream says what it charged', () => {
  expect(anthropicCountTokens.usageOf({ input_tokens: 12 })).toBeUndefined();
  const charged = { type: 'message', usage: { input_tokens: 5, output_tokens: 7 } };
  expect(anthropicCountTokens.usageOf(charged)).toMatchObject({ inputTokens: 5, outputTokens: 7 });
});

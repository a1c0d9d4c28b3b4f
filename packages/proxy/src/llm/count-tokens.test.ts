import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddText } from '../../test/odd-text.ts';
import { promptBound } from './count-tokens.ts';

const bounds = { imageTokens: 5000, unseenInputTokens: 200_000 };
const data = 'A'.repeat(100_000);

function boundOf(request: Readonly<Record<string, unknown>>): number {
  return promptBound(Buffer.byteLength(JSON.stringify(request)), request, bounds);
}

test('the bound is at least the bytes of all text, so at least its tokens', () => {
  fc.assert(
    fc.property(fc.array(oddText), oddText, (texts, system) => {
      const messages = texts.map((content) => ({ role: 'user', content }));
      const bytes = Buffer.byteLength([system, ...texts].join(''));
      expect(boundOf({ model: 'm', system, messages })).toBeGreaterThanOrEqual(bytes);
    }),
  );
});

test.each([
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
  ['chat completions', { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
  ['responses', { type: 'input_image', image_url: `data:image/png;base64,${data}` }],
])('a picture of %s counts as one, not by its bytes', (_, block) => {
  const bound = boundOf({ messages: [{ role: 'user', content: [block, { type: 'text', text: 'see' }] }] });
  expect(bound).toBeGreaterThan(5000);
  expect(bound).toBeLessThan(6000);
});

test('pictures in the result of a tool are found, and in the input of a response', () => {
  const image = { type: 'image', source: { type: 'base64', data } };
  const result = { type: 'tool_result', tool_use_id: 't', content: [image] };
  expect(boundOf({ messages: [{ role: 'user', content: [result] }] })).toBeLessThan(6000);
  const shot = { type: 'computer_screenshot', image_url: `data:image/png;base64,${data}` };
  expect(boundOf({ input: [{ type: 'computer_call_output', call_id: 'c', output: shot }] })).toBeLessThan(6000);
});

test('what looks like a picture elsewhere counts by its bytes: there it is text to the model', () => {
  const schema = { type: 'image', source: { type: 'base64', data } };
  expect(boundOf({ messages: [], tools: [{ name: 't', input_schema: schema }] })).toBeGreaterThan(100_000);
  expect(boundOf({ messages: [], metadata: [schema] })).toBeGreaterThan(100_000);
});

test.each([
  { previous_response_id: 'resp_1' },
  { conversation: 'conv_1' },
  { input: [{ type: 'item_reference', id: 'x' }] },
  { tools: [{ type: 'web_search' }] },
  { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
  {
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://example.com' } }] }],
  },
])('%j brings input that cannot be seen', (request) => {
  expect(boundOf(request)).toBeGreaterThan(200_000);
});

test.each([
  { tools: [{ type: 'function', function: { name: 'f' } }] },
  {
    tools: [
      { name: 'f', input_schema: {} },
      { type: 'bash_20250124', name: 'bash' },
    ],
  },
  { previous_response_id: null },
  { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'x' } }] }] },
])('%j does not', (request) => {
  expect(boundOf(request)).toBeLessThan(2000);
});

test('an inline document counts more than its bytes, and sound less', () => {
  const file = { type: 'file', file: { file_data: data, filename: 'a.pdf' } };
  expect(boundOf({ messages: [{ content: [file] }] })).toBeGreaterThan(400_000);
  const audio = { type: 'input_audio', input_audio: { data, format: 'mp3' } };
  expect(boundOf({ messages: [{ content: [audio] }] })).toBeLessThan(7000);
});

test('no bound is above what a message can hold, and none is 0', () => {
  expect(promptBound(2 ** 40, {}, bounds)).toBe(2_147_483_647);
  expect(promptBound(2, {}, { imageTokens: 0, unseenInputTokens: 0 })).toBe(2);
});

test('blocks within blocks without end do not exhaust the stack', () => {
  const depth = 100_000;
  const text = `{"messages":[{"content":${'[{"content":'.repeat(depth)}1${'}]'.repeat(depth)}}]}`;
  expect(promptBound(text.length, JSON.parse(text) as Record<string, unknown>, bounds)).toBe(text.length);
});

test('no request makes it throw', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('messages', 'input', 'system', 'tools', 'prompt'), fc.jsonValue()),
      (request) => {
        expect(boundOf(request)).toBeGreaterThan(0);
      },
    ),
  );
});

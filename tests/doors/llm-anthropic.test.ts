import Anthropic, { APIError as AnthropicAPIError } from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, streamText } from 'ai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { providerKey } from '../harness/model-proxy.ts';
import { sendJson } from '../harness/send-answer.ts';
import { LlmWorld } from './llm-world.ts';

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => {
  world.upstream.script = () => false;
});

const ask = {
  model: 'claude-5',
  max_tokens: 200,
  messages: [{ role: 'user' as const, content: 'How long do refunds take?' }],
};
const answer = 'Refunds take five days.';

test('a message, with the upstream reached by its own key', async () => {
  const message = await world.anthropic().messages.create(ask);
  expect(message.content).toEqual([{ type: 'text', text: answer }]);
  const { headers, json } = world.upstream.last;
  expect(headers['x-api-key']).toBe(providerKey);
  expect(headers['anthropic-version']).toBeDefined();
  expect(JSON.stringify(headers)).not.toContain(world.agent.token);
  expect(json).toEqual(ask);
});

test('the token also comes as a bearer, as some clients of the protocol send it', async () => {
  const client = new Anthropic({ baseURL: world.proxy.url, authToken: world.agent.token, apiKey: null });
  expect((await client.messages.create(ask)).content).toHaveLength(1);
  expect(world.upstream.last.headers.authorization).toBeUndefined();
});

test('a stream, byte for byte, with all events', async () => {
  const stream = world.anthropic().messages.stream(ask);
  const events: string[] = [];
  stream.on('streamEvent', ({ type }) => events.push(type));
  expect(await stream.finalText()).toBe(answer);
  expect((await stream.finalMessage()).usage.output_tokens).toBe(50);
  expect(events.at(-1)).toBe('message_stop');
  const body = JSON.stringify({ ...ask, stream: true });
  const through = await (await world.post('/v1/messages?beta=true', body)).text();
  expect(world.upstream.last).toMatchObject({ body, url: '/v1/messages?beta=true' });
  expect(through).toBe(await (await fetch(`${world.upstream.url}/v1/messages`, { method: 'POST', body })).text());
});

test('tools, streamed and not', async () => {
  const tools = [{ name: 'look_up', input_schema: { type: 'object' as const } }];
  const tool = { type: 'tool_use', name: 'look_up', input: { q: 'refunds' } };
  const whole = await world.anthropic().messages.create({ ...ask, tools });
  expect(whole.content[0]).toMatchObject(tool);
  const streamed = await world
    .anthropic()
    .messages.stream({ ...ask, tools })
    .finalMessage();
  expect(streamed.content[0]).toMatchObject(tool);
});

test('errors of the upstream pass unchanged', async () => {
  world.upstream.script = (_, response) => {
    sendJson(response, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
    return true;
  };
  const error = await world
    .anthropic()
    .messages.create(ask)
    .catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(AnthropicAPIError);
  expect(error).toMatchObject({ status: 529, type: 'overloaded_error' });
});

test('the AI SDK, by its own adapter', async () => {
  const provider = createAnthropic({ baseURL: `${world.proxy.url}/v1`, apiKey: world.agent.token });
  const model = provider('claude-5');
  expect((await generateText({ model, prompt: 'How long?' })).text).toBe(answer);
  expect(await streamText({ model, prompt: 'How long?' }).text).toBe(answer);
});

test('what is used is settled exactly, cached input at its own price, whole and streamed', async () => {
  const before = await world.spent();
  // 600 fresh and 400 cached in, 50 out: 600 + 40 + 500 micro-dollars.
  await world.anthropic().messages.create(ask);
  expect(await world.spent()).toBe(before + 1140);
  await world.anthropic().messages.stream(ask).finalMessage();
  expect(await world.spent()).toBe(before + 2280);
  await world.openai().chat.completions.create({ model: 'gpt-5', messages: ask.messages });
  await world.openai().responses.create({ model: 'gpt-5', input: 'x' });
  for await (const _ of await world.openai().responses.create({ model: 'gpt-5', input: 'x', stream: true }));
  for await (const _ of await world.openai().chat.completions.create({ ...ask, model: 'gpt-5', stream: true }));
  expect(await world.spent()).toBe(before + 6 * 1140);
  await world.openai().embeddings.create({ model: 'text-embedding-3-small', input: 'x' });
  expect(await world.spent()).toBe(before + 6 * 1140 + 1000);
});

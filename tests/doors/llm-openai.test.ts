import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import { BadRequestError as OpenAIBadRequestError } from 'openai';
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

const messages = [{ role: 'user' as const, content: 'How long do refunds take?' }];
const model = 'gpt-5-mini';
const answer = 'Refunds take five days.';

test('a chat, with the upstream reached by its own key and with nothing of the agent', async () => {
  const { data, response } = await world
    .openai()
    .chat.completions.create({ model, messages }, { headers: { 'x-reeve-run-id': 'run-1', 'x-own': 'passes' } })
    .withResponse();
  expect(data.choices[0]?.message.content).toBe(answer);
  expect(response.headers.get('x-request-id')).toBe('req_1');
  const { headers, body } = world.upstream.last;
  expect(headers.authorization).toBe(`Bearer ${providerKey}`);
  expect(headers['x-own']).toBe('passes');
  expect(headers['x-reeve-run-id']).toBeUndefined();
  expect(headers['accept-encoding']).toBe('identity');
  expect(JSON.stringify(headers)).not.toContain(world.agent.token);
  expect(JSON.parse(body)).toEqual({ model, messages });
  const check = world.checks().at(-1);
  expect(check?.op_id).toBe(response.headers.get('x-reeve-op-id'));
});

test('bodies pass byte for byte in both directions, streamed or not', async () => {
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/embeddings']) {
    for (const stream of ['false', 'true']) {
      const asked = path.endsWith('completions') ? ',"stream_options":{"include_usage":true}' : '';
      const options = stream === 'true' ? asked : '';
      const body = `{ "input":"caf\\u00e9 ☕", "messages": [], "n":1.0, "seed": 9007199254740993, "model" :"gpt-5-mini",\n"stream":${stream}${options} } `;
      const through = await (await world.post(path, body)).arrayBuffer();
      expect(world.upstream.last.body).toBe(body);
      const direct = await (await fetch(world.upstream.url + path, { method: 'POST', body })).arrayBuffer();
      expect(Buffer.from(through).equals(Buffer.from(direct)), `${path} ${stream}`).toBe(true);
    }
  }
});

test('headers of the provider pass, both ways', async () => {
  const asked = {
    'openai-organization': 'org-1',
    'openai-beta': 'x=v1',
    'x-client-request-id': 'c-1',
    'user-agent': 'mine',
  };
  const answered = {
    'openai-processing-ms': '7',
    'openai-version': '2020-10-01',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-requests': '1s',
    'retry-after': '3',
    'x-request-id': 'req_limits',
  };
  world.upstream.script = (_call, response) => {
    response.writeHead(429, { 'content-type': 'application/json', ...answered }).end('{"error":{}}');
    return true;
  };
  const body = JSON.stringify({ model, messages });
  const { status, headers } = await world.post('/v1/chat/completions', body, asked);
  expect([status, Object.fromEntries(headers)]).toEqual([429, expect.objectContaining(answered)]);
  expect(world.upstream.last.headers).toMatchObject(asked);
});

test('a stream: the chunk with the usage is for the proxy, unless the client asks for it', async () => {
  const client = world.openai();
  const texts: unknown[] = [];
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
    expect(chunk.choices).toHaveLength(1);
    texts.push(chunk.choices[0]?.delta.content);
  }
  expect(texts.join('')).toBe(answer);
  expect(world.upstream.last.json['stream_options']).toEqual({ include_usage: true });
  const stream_options = { include_usage: true };
  const asked = [];
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true, stream_options })) {
    asked.push(chunk.usage?.completion_tokens);
  }
  expect(asked.at(-1)).toBe(50);
});

test('tools, streamed and not', async () => {
  const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object' } } }];
  const runner = world.openai().chat.completions.stream({ model, messages, tools });
  const { choices } = await runner.finalChatCompletion();
  expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'look_up' } });
  const whole = await world.openai().chat.completions.create({ model, messages, tools });
  expect(whole.choices[0]?.finish_reason).toBe('tool_calls');
});

test('responses, streamed and not, embeddings, and the models that can be called', async () => {
  const client = world.openai();
  const response = await client.responses.create({ model: 'gpt-5', input: 'How long?' });
  expect(response.output_text).toBe(answer);
  const events: string[] = [];
  for await (const event of await client.responses.create({ model: 'gpt-5', input: 'How long?', stream: true })) {
    events.push(event.type);
  }
  expect(events[0]).toBe('response.created');
  expect(events.at(-1)).toBe('response.completed');
  const embeddings = await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: 'refunds',
    encoding_format: 'float',
  });
  expect(embeddings.data[0]?.embedding).toEqual([0.25, -0.5]);
  const listed = await client.models.list();
  expect(listed.data.map(({ id }) => id)).toEqual(['gpt-5-mini', 'gpt-5', 'text-embedding-3-small']);
});

test('errors of the upstream pass unchanged and cost nothing, and the client retries as it always does', async () => {
  const before = await world.spent();
  let attempts = 0;
  world.upstream.script = (_, response) => {
    if (++attempts > 2) return false;
    const error = { message: 'Slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' };
    response.setHeader('retry-after-ms', '1');
    sendJson(response, { error }, 429);
    return true;
  };
  const retrying = world.openai(undefined, { maxRetries: 2 });
  const data = await retrying.chat.completions.create({ model, messages });
  expect([attempts, data.choices[0]?.message.content]).toEqual([3, answer]);
  expect(await world.spent()).toBe(before + 1140);
  world.upstream.script = (_, response) => {
    sendJson(
      response,
      { error: { message: 'No such thing', type: 'invalid_request_error', param: 'x', code: null } },
      400,
    );
    return true;
  };
  const failed = await world
    .openai()
    .chat.completions.create({ model, messages })
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(OpenAIBadRequestError);
  expect(failed).toMatchObject({ message: '400 No such thing', param: 'x', requestID: 'req_1' });
});

test('the AI SDK, by its own adapter', async () => {
  const provider = createOpenAI({ baseURL: `${world.proxy.url}/v1`, apiKey: world.agent.token });
  const prompt = 'How long do refunds take?';
  expect((await generateText({ model: provider.chat(model), prompt })).text).toBe(answer);
  expect((await generateText({ model: provider('gpt-5'), prompt })).text).toBe(answer);
  expect(await streamText({ model: provider.chat(model), prompt }).text).toBe(answer);
  expect(await streamText({ model: provider('gpt-5'), prompt }).text).toBe(answer);
});

test('the check names the model, its bounds, the run, the trace and the door', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const body = JSON.stringify({ model, messages, max_tokens: 77, n: 2 });
  const headers = { 'x-reeve-run-id': 'ticket-9', traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  await world.post('/v1/chat/completions', body, headers);
  const check = world.checks().findLast(({ trace_id }) => trace_id === trace);
  expect(check?.payload).toMatchObject({
    action: { type: 'llm_call', model, max_output_tokens: 154, prompt_tokens: Buffer.byteLength(body) },
    run_id: 'ticket-9',
    via: { door: 'model', name: 'openai-main' },
  });
  expect(check?.span_id).not.toBe('00f067aa0ba902b7');
});

import type { ServerResponse } from 'node:http';
import { APIError as AnthropicAPIError } from '@anthropic-ai/sdk';
import { APIError as OpenAIAPIError, APIUserAbortError as OpenAIAPIUserAbortError } from 'openai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { chatChunk, chatDelta, messageStart, textDelta } from '../harness/model-answers.ts';
import { beginStream, sendEvent } from '../harness/send-answer.ts';
import { LlmWorld } from './llm-world.ts';

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => {
  world.upstream.script = () => false;
});

const messages = [{ role: 'user' as const, content: 'Tell me everything.' }];

/** The upstream begins a stream and then waits for the test. */
function heldStream(): Promise<ServerResponse> {
  const begun = Promise.withResolvers<ServerResponse>();
  world.upstream.script = ({ url }, response) => {
    beginStream(response);
    if (url.startsWith('/v1/messages')) {
      sendEvent(response, messageStart(), 'message_start');
      const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
      sendEvent(response, block, 'content_block_start');
      sendEvent(response, textDelta('One'), 'content_block_delta');
    } else if (url === '/v1/responses') {
      const event = {
        type: 'response.output_text.delta',
        sequence_number: 4,
        delta: 'One',
        item_id: 'm',
        logprobs: [],
      };
      sendEvent(response, { ...event, output_index: 0, content_index: 0 }, event.type);
    } else sendEvent(response, chatChunk([chatDelta({ content: 'One' })]));
    begun.resolve(response);
    return true;
  };
  return begun.promise;
}

async function runningOp(): Promise<string> {
  return eventually(async () => {
    const query = '/api/v1/ops?state=running&agent_id=writer';
    const { body } = await world.gateway.api.get<{ items: { op_id: string }[] }>(query, bootstrapKey);
    const [op] = body.items;
    if (op === undefined) throw new Error('nothing is running');
    return op.op_id;
  });
}

async function control(op: string, action: string): Promise<string> {
  const path = `/api/v1/ops/${encodeURIComponent(op)}/${action}`;
  const answer = await world.gateway.api.post<{ control: { id: string } }>(path, bootstrapKey, { reason: 'enough' });
  expect(answer.status, answer.text).toBe(202);
  return answer.body.control.id;
}

const becomesEffective = (id: string) =>
  eventually(async () => {
    const { body } = await world.gateway.api.get<{ status: string }>(`/api/v1/control/${id}`, bootstrapKey);
    expect(body.status).toBe('effective');
  });

/** Terminates the only call when its first part has arrived, and returns the error of the client. */
async function terminated(stream: AsyncIterable<unknown>): Promise<unknown> {
  let id: string | undefined;
  try {
    for await (const _ of stream) id ??= await control(await runningOp(), 'terminate');
  } catch (error) {
    await becomesEffective(id ?? '');
    await eventually(() => expect(world.upstream.last.wasAborted).toBe(true));
    return error;
  }
  throw new Error('the stream ended as if nothing had happened');
}

test('TERMINATE ends a stream of each protocol with an error of that protocol', async () => {
  const before = await world.spent();
  void heldStream();
  const chat = await world.openai().chat.completions.create({ model: 'gpt-5', messages, stream: true });
  const chatError = await terminated(chat);
  expect(chatError).toBeInstanceOf(OpenAIAPIError);
  expect(chatError).toMatchObject({ code: 'operation_terminated', message: 'Stopped: enough' });
  void heldStream();
  const response = await world.openai().responses.create({ model: 'gpt-5', input: 'x', stream: true });
  expect(await terminated(response)).toMatchObject({ code: 'operation_terminated', message: 'Stopped: enough' });
  void heldStream();
  const create = { model: 'claude-5', max_tokens: 9, messages, stream: true } as const;
  const claudeError = await terminated(await world.anthropic().messages.create(create));
  expect(claudeError).toBeInstanceOf(AnthropicAPIError);
  expect(claudeError).toMatchObject({ type: 'permission_error', apiMessage: 'Stopped: enough' });
  // What is terminated is released.
  expect(await world.spent()).toBe(before);
});

test('TERMINATE before the answer has begun is an error like any other', async () => {
  world.upstream.script = () => true;
  const call = world.openai().chat.completions.create({ model: 'gpt-5', messages });
  const refused = expect(call).rejects.toMatchObject({ status: 403, code: 'operation_terminated' });
  const id = await control(await runningOp(), 'terminate');
  await refused;
  await becomesEffective(id);
});

test('PAUSE holds the stream back until RESUME, and loses nothing', async () => {
  const begun = heldStream();
  const stream = await world.openai().chat.completions.create({ model: 'gpt-5', messages, stream: true });
  const upstream = await begun;
  const got: (string | null | undefined)[] = [];
  const reading = (async () => {
    for await (const chunk of stream) got.push(chunk.choices[0]?.delta.content);
  })();
  await eventually(() => expect(got).toEqual(['One']));
  const op = await runningOp();
  await becomesEffective(await control(op, 'pause'));
  for (const content of [' two', ' three']) sendEvent(upstream, chatChunk([chatDelta({ content })]));
  sendEvent(upstream, '[DONE]');
  upstream.end();
  // A call that is not paused gets through meanwhile.
  world.upstream.script = () => false;
  await world.openai().chat.completions.create({ model: 'gpt-5', messages });
  expect(got).toEqual(['One']);
  await control(op, 'resume');
  await reading;
  expect(got).toEqual(['One', ' two', ' three']);
  await world.spent();
});

test('a suspended agent: what runs is held, new calls are denied, and all goes on when it is resumed', async () => {
  const begun = heldStream();
  const stream = await world.openai().chat.completions.create({ model: 'gpt-5', messages, stream: true });
  const upstream = await begun;
  const agent = '/api/v1/agents/acme/core/writer';
  await world.gateway.api.post(`${agent}/suspend`, bootstrapKey, { reason: 'looked odd' });
  const denied = await world
    .openai()
    .chat.completions.create({ model: 'gpt-5', messages })
    .catch((error: unknown) => error);
  expect(denied).toMatchObject({ status: 403, code: 'policy_denied' });
  expect(String(denied)).toContain('agent is suspended');
  sendEvent(upstream, chatChunk([chatDelta({ content: ' two' })]));
  sendEvent(upstream, '[DONE]');
  upstream.end();
  await world.gateway.api.post(`${agent}/resume`, bootstrapKey, { reason: 'it was not' });
  const got = [];
  for await (const chunk of stream) got.push(chunk.choices[0]?.delta.content);
  expect(got).toEqual(['One', ' two']);
});

test('a client that goes away aborts the upstream call, and the most that it may have cost is settled', async () => {
  const before = await world.spent();
  void heldStream();
  const abort = new AbortController();
  const create = { model: 'claude-5', max_tokens: 90, messages, stream: true } as const;
  const stream = await world.anthropic().messages.create(create, { signal: abort.signal });
  for await (const _ of stream) abort.abort();
  await eventually(() => expect(world.upstream.last.wasAborted).toBe(true));
  // What went in is known from the first event. Of what came out only the maximum is.
  expect(await world.spent()).toBe(before + 640 + 900);
  const ended = world.gateway.audit().findLast(({ event_type }) => event_type === 'OpStateChanged');
  expect(ended?.payload).toMatchObject({ outcome: 'cancelled' });
});

test('a client that goes away pays for the text that it got, where that is more than the most it asked for', async () => {
  const text = 'word '.repeat(800);
  const passed = async (create: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>, more: () => object) => {
    const before = await world.spent();
    const upstream = heldStream();
    const abort = new AbortController();
    const stream = await create(abort.signal);
    const response = await upstream;
    sendEvent(response, more(), 'content_block_delta');
    let parts = 0;
    for await (const part of stream) if (JSON.stringify(part).includes('word') && ++parts > 0) abort.abort();
    expect(parts).toBe(1);
    return (await world.spent()) - before;
  };
  const claude = await passed(
    (signal) =>
      world.anthropic().messages.create({ model: 'claude-5', max_tokens: 9, messages, stream: true }, { signal }),
    () => textDelta(text),
  );
  expect(claude).toBeGreaterThanOrEqual(1000 * 10);
  const gpt = await passed(
    (signal) =>
      world.openai().chat.completions.create({ model: 'gpt-5', max_tokens: 9, messages, stream: true }, { signal }),
    () => chatChunk([chatDelta({ content: text })]),
  );
  expect(gpt).toBeGreaterThanOrEqual(1000 * 10);
  expect(gpt).toBeLessThan(1100 * 10);
});

test.each([
  ['an answer without usage costs what its text must have taken', 0, false, 2_500_000],
  ['the usage of an answer of 20 MB is read, wherever it stands', 20_000_000, true, 1000 + 70],
])('%s', async (_, padding, hasUsage, micros) => {
  const usage = { prompt_tokens: 1000, completion_tokens: 7, total_tokens: 1007 };
  const content = hasUsage ? 'x' : 'x'.repeat(1_000_000);
  world.upstream.script = (_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content };
    const head = hasUsage ? { usage } : {};
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, message }], padding: 'p'.repeat(padding) }));
    return true;
  };
  const before = await world.spent();
  const body = JSON.stringify({ model: 'gpt-5', messages, max_tokens: 9 });
  await (await world.post('/v1/chat/completions', body)).text();
  const spent = (await world.spent()) - before;
  expect(spent).toBeGreaterThanOrEqual(micros);
  expect(spent).toBeLessThan(micros + 1000);
});

test('a client that goes away before the upstream answers leaves nothing behind', async () => {
  world.upstream.script = () => true;
  const abort = new AbortController();
  const call = world.openai().chat.completions.create({ model: 'gpt-5', messages }, { signal: abort.signal });
  await runningOp();
  abort.abort();
  await expect(call).rejects.toBeInstanceOf(OpenAIAPIUserAbortError);
  await eventually(() => expect(world.upstream.last.wasAborted).toBe(true));
  await world.spent();
});

test('a stream of an agent whose token was replaced ends: nobody could stop it any more', async () => {
  const other = await world.gateway.register({ agentId: 'replaced' });
  void heldStream();
  const create = { model: 'gpt-5', messages, stream: true } as const;
  const stream = await world.openai(other.token).chat.completions.create(create);
  await world.gateway.register({ agentId: 'replaced' });
  const upstream = world.upstream.last;
  const reading = (async () => {
    for await (const _ of stream);
  })();
  await expect(reading).rejects.toBeInstanceOf(OpenAIAPIError);
  await eventually(() => expect(upstream.wasAborted).toBe(true));
});

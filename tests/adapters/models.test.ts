import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { fakeModel } from '@langchain/core/testing';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ScriptedModel } from '@openai/agents-core/testing';
import { Usage } from '@openai/agents-core';
import type { Agent } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError } from '@reeve/sdk';
import { governModel as governAi } from '@reeve/sdk/ai';
import { governModel as governChat } from '@reeve/sdk/langchain';
import { governModel as governAgents } from '@reeve/sdk/openai-agents';
import { streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { AdapterWorld } from './adapter-world.ts';

const policy = `
name: models
default: deny
rules:
  - { name: small, effect: allow, actions: [llm_call], models: ['small-*'] }
  - { name: ask, effect: require_approval, actions: [llm_call], models: ['asked-*'] }
pricing:
  small-*: { input_per_mtok_usd: 2, output_per_mtok_usd: 10, cached_input_per_mtok_usd: 0.5 }
`;

let world: AdapterWorld;

beforeAll(async () => {
  world = await AdapterWorld.start(policy);
});

afterAll(() => world[Symbol.asyncDispose]());

function whenSettled(agent: Agent, cost: number): Promise<void> {
  return eventually(async () =>
    expect(await world.op(agent)).toMatchObject({ state: 'completing', cost_micros: cost }),
  );
}

const usage = {
  inputTokens: { total: 1000, noCache: 600, cacheRead: 400, cacheWrite: undefined },
  outputTokens: { total: 200, text: 200, reasoning: undefined },
};

const agentsRequest = {
  input: 'go',
  modelSettings: {},
  tools: [],
  outputType: 'text',
  handoffs: [],
  tracing: false,
} as const;

type StreamPart = { type: 'text-delta'; id: string; delta: string } | { type: 'text-start' | 'text-end'; id: string };

/** A model of the AI SDK whose stream is in the hands of a test. */
function streaming(modelId = 'small-one') {
  let controller: ReadableStreamDefaultController | undefined;
  let signal: AbortSignal | undefined;
  let isCancelled = false;
  const stream = new ReadableStream({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const model = new MockLanguageModelV4({
    modelId,
    doStream: async ({ abortSignal }) => {
      signal = abortSignal;
      return { stream };
    },
  });
  return {
    model,
    send: (part: StreamPart) => controller?.enqueue(part),
    finish: () => {
      controller?.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage });
      controller?.close();
    },
    signal: () => signal,
    isCancelled: () => isCancelled,
  };
}

test('a streamed call of the AI SDK passes part by part, and is settled by the usage at its end', async () => {
  const agent = await world.register('ai-stream');
  const { model, send, finish } = streaming();
  const governed = governAi(agent, model);
  expectTypeOf(governed).toEqualTypeOf<MockLanguageModelV4>();
  expect(governed.modelId).toBe('small-one');
  const { textStream } = streamText({ model: governed, prompt: 'go' });
  const texts = textStream[Symbol.asyncIterator]();
  send({ type: 'text-start', id: '1' });
  send({ type: 'text-delta', id: '1', delta: 'hello' });
  expect(await texts.next()).toMatchObject({ value: 'hello' });
  await eventually(async () => expect((await world.op(agent)).state).toBe('running'));
  send({ type: 'text-end', id: '1' });
  finish();
  expect(await texts.next()).toMatchObject({ done: true });
  await whenSettled(agent, 3400);
});

test('a termination ends a stream that waits for its provider, and tells the provider', async () => {
  const agent = await world.register('ai-stop');
  const { model, signal, isCancelled } = streaming();
  const { stream } = await governAi(agent, model).doStream({ prompt: [] });
  const read = stream.getReader().read();
  read.catch(() => {});
  await eventually(() => world.op(agent));
  await world.terminate(agent, 'enough');
  await expect(read).rejects.toThrow(OperationTerminatedError);
  expect(signal()?.aborted).toBe(true);
  expect(isCancelled()).toBe(true);
});

test('a termination ends a stream that nobody reads at that moment', async () => {
  const agent = await world.register('ai-unread');
  const { model, send, signal } = streaming();
  const { stream } = await governAi(agent, model).doStream({ prompt: [] });
  for (const delta of ['one', 'two', 'three']) send({ type: 'text-delta', id: '1', delta });
  const reader = stream.getReader();
  await reader.read();
  const receipt = await world.terminate(agent, 'enough');
  await eventually(async () => expect(await world.statusOf(receipt)).toBe('effective'));
  expect(signal()?.aborted).toBe(true);
  // What had been read ahead may still come.
  const rest = (async () => {
    while (!(await reader.read()).done);
  })();
  await expect(rest).rejects.toThrow(OperationTerminatedError);
});

test('a stream that is cancelled before anybody reads it ends the call', async () => {
  const agent = await world.register('ai-unused');
  const { model, signal, isCancelled } = streaming();
  const { stream } = await governAi(agent, model).doStream({ prompt: [] });
  await stream.cancel();
  await eventually(async () => expect((await world.op(agent)).state).toBe('completing'));
  expect(signal()?.aborted).toBe(true);
  expect(isCancelled()).toBe(true);
});

test('a held stream that its caller gives up is called off, and nobody is asked in vain', async () => {
  const agent = await world.register('held-streams');
  const { model } = streaming('asked-one');
  const chat = governChat(agent, new StreamingChat({ responses: [] }), { model: 'asked-two' });
  const scripted = new ScriptedModel([{ output: [], usage: new Usage(), responseId: 'one' }]);
  const agents = governAgents(agent, scripted, { model: 'asked-three' });
  const streams: ((signal: AbortSignal) => PromiseLike<unknown>)[] = [
    (abortSignal) => governAi(agent, model).doStream({ prompt: [], abortSignal }),
    async (signal) => (await chat.stream('go', { signal })).next(),
    (signal) => {
      const events = agents.getStreamedResponse({ ...agentsRequest, signal } as never);
      return events[Symbol.asyncIterator]().next();
    },
  ];
  const given = streams.map((open) => {
    const caller = new AbortController();
    const opened = Promise.resolve(open(caller.signal));
    opened.catch(() => {});
    return { caller, opened };
  });
  await eventually(async () =>
    expect((await world.approvals(agent)).map(({ state }) => state)).toEqual(Array(3).fill('open')),
  );
  for (const { caller } of given) caller.abort(new Error('I have to go'));
  for (const { opened } of given) await expect(opened).rejects.toThrow('I have to go');
  await eventually(async () =>
    expect((await world.approvals(agent)).map(({ state }) => state)).toEqual(Array(3).fill('cancelled')),
  );
  expect(model.doStreamCalls).toHaveLength(0);
});

test('a reader that leaves ends the call, which then costs what was reserved', async () => {
  const agent = await world.register('ai-leave');
  const { model, send, isCancelled } = streaming();
  const { stream } = await governAi(agent, model, { maxOutputTokens: 100, promptTokens: () => 500 }).doStream({
    prompt: [],
  });
  const reader = stream.getReader();
  send({ type: 'text-start', id: '1' });
  await reader.read();
  await reader.cancel();
  await whenSettled(agent, 2000);
  expect(isCancelled()).toBe(true);
});

test('a refused model is not called, and the error says why', async () => {
  const agent = await world.register('ai-refused');
  const { model } = streaming('large-one');
  const error: unknown = await Promise.resolve(governAi(agent, model).doStream({ prompt: [] })).catch(
    (why: unknown) => why,
  );
  expect(error).toBeInstanceOf(ActionDeniedError);
  expect(String(error)).toContain('Denied by policy: ');
  expect(model.doStreamCalls).toHaveLength(0);
});

test('an error status of a provider costs nothing', async () => {
  const agent = await world.register('ai-failed');
  const failure = Object.assign(new Error('overloaded'), { statusCode: 529 });
  const model = new MockLanguageModelV4({ modelId: 'small-one', doGenerate: () => Promise.reject(failure) });
  await expect(governAi(agent, model).doGenerate({ prompt: [] })).rejects.toBe(failure);
  await whenSettled(agent, 0);
});

class StreamingChat extends FakeListChatModel {
  readonly model = 'small-two';

  override async *_streamResponseChunks() {
    const chunk = (content: string, input: number, output: number) => {
      const usage_metadata = { input_tokens: input, output_tokens: output, total_tokens: input + output };
      return new ChatGenerationChunk({
        message: new AIMessageChunk({ content, usage_metadata } as never),
        text: content,
      });
    };
    yield chunk('hel', 1000, 0);
    yield chunk('lo', 0, 200);
  }
}

test('a streamed call of LangChain is settled by the usage of all chunks', async () => {
  const agent = await world.register('chat-stream');
  const governed = governChat(agent, new StreamingChat({ responses: [] }));
  expectTypeOf(governed).toEqualTypeOf<StreamingChat>();
  expect(governed).toBeInstanceOf(StreamingChat);
  let text = '';
  for await (const chunk of await governed.stream('go')) text += chunk.text;
  expect(text).toBe('hello');
  await whenSettled(agent, 4000);
});

test('a chat model stays governed once it has tools, also if it then is another object', async () => {
  const agent = await world.register('chat-tools');
  const plain = fakeModel().respond(new AIMessage('hello'));
  const bound = governChat(agent, plain, { model: 'large-two' }).bindTools([]);
  await expect(bound.invoke('go')).rejects.toThrow('Denied by policy: ');
  expect(plain.callCount).toBe(0);
});

test('a streamed call of the OpenAI Agents SDK is settled by its last event', async () => {
  const agent = await world.register('agents-stream');
  const usage = new Usage({ requests: 1, inputTokens: 1000, outputTokens: 200, totalTokens: 1200 });
  const model = new ScriptedModel([{ output: [], usage, responseId: 'one' }]);
  const provider = governAgents(agent, { getModel: (_name?: string) => model });
  const governed = provider.getModel('small-three');
  const events: unknown[] = [];
  for await (const event of governed.getStreamedResponse(agentsRequest as never)) events.push(event);
  expect(events.length).toBeGreaterThan(0);
  await whenSettled(agent, 4000);
});

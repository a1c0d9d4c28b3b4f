import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Usage } from '@openai/agents-core';
import { ScriptedModel } from '@openai/agents-core/testing';
import { ActionDeniedError, ResultDenied } from '@reeve/sdk';
import { governModel as governAi } from '@reeve/sdk/ai';
import { governModel as governChat } from '@reeve/sdk/langchain';
import { governModel as governAgents } from '@reeve/sdk/openai-agents';
import type { ToolSet } from 'ai';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AdapterWorld } from './adapter-world.ts';

const policy = `
name: prompts
default: allow
rules:
  - { name: masks, effect: mask, actions: [llm_call], models: ["masked-*"], mask: { detect: [email, secret] } }
  - { name: whole, effect: mask, actions: [llm_call], models: [masked-whole], mask: { fields: [tools] } }
`;
const email = 'ada@example.com';

let world: AdapterWorld;
beforeAll(async () => {
  world = await AdapterWorld.start(policy);
});
afterAll(() => world[Symbol.asyncDispose]());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finishReason = { unified: 'stop' as const, raw: undefined };

function aiModel(modelId: string) {
  const seen: string[] = [];
  const model = new MockLanguageModelV4({
    modelId,
    doGenerate: async ({ prompt, tools }) => {
      seen.push(JSON.stringify({ prompt, tools }));
      return { content: [{ type: 'text', text: 'hi' }], finishReason, usage, warnings: [] };
    },
    doStream: async ({ prompt, tools }) => {
      seen.push(JSON.stringify({ prompt, tools }));
      return { stream: simulateReadableStream({ chunks: [{ type: 'finish', finishReason, usage }] }) };
    },
  });
  return { model, seen };
}

const inputSchema = jsonSchema<{ password: string }>({ type: 'object', properties: { password: { type: 'string' } } });
const tools: ToolSet = { mail: tool({ description: `mails ${email}`, inputSchema }) };

test('a model of the AI SDK gets the prompt as rules have masked it, also where it streams', async () => {
  const agent = await world.register('ai-prompts');
  const { model, seen } = aiModel('masked-one');
  const asked = { model: governAi(agent, model), instructions: `for ${email}`, prompt: `I am ${email}`, tools };
  expect((await generateText(asked)).text).toBe('hi');
  await streamText(asked).consumeStream();
  expect(seen).toHaveLength(2);
  for (const text of seen) {
    expect(text).not.toContain(email);
    expect(text).toContain('I am [masked]');
    expect(text).toContain('mails [masked]');
    // The name of a parameter is part of the form of the tool.
    expect(text).toContain('"password":{"type":"string"}');
  }
});

test('a prompt that rules leave as it is goes on as it is', async () => {
  const agent = await world.register('ai-plain');
  const { model, seen } = aiModel('plain');
  await generateText({ model: governAi(agent, model), prompt: `I am ${email}` });
  expect(seen[0]).toContain(email);
});

test('a prompt that cannot be masked is not sent', async () => {
  const agent = await world.register('ai-files');
  for (const [modelId, content] of [
    ['masked-one', [{ type: 'file' as const, mediaType: 'text/plain', data: new Uint8Array([1]) }]],
    ['masked-whole', [{ type: 'text' as const, text: 'hi' }]],
  ] as const) {
    const { model, seen } = aiModel(modelId);
    const asked = governAi(agent, model);
    const call = generateText({ model: asked, messages: [{ role: 'user', content: [...content] }], tools });
    await expect(call).rejects.toThrow();
    expect(seen).toEqual([]);
    expect((await world.op(agent)).cost_micros).toBe(0);
  }
});

test('a model of the OpenAI Agents SDK', async () => {
  const agent = await world.register('agents-prompts');
  const output = [{ type: 'message', role: 'assistant', status: 'completed', content: [] }] as never;
  const scripted = new ScriptedModel([{ output, usage: new Usage(), responseId: 'one' }]);
  const governed = governAgents(agent, scripted, { model: 'masked-two' });
  const tool = { type: 'function', name: 'mail', description: `mails ${email}`, parameters: {}, strict: true };
  const input = [{ type: 'message', role: 'user', content: `I am ${email}` }];
  const request = { input, systemInstructions: `for ${email}`, modelSettings: {}, tools: [tool], outputType: 'text' };
  await governed.getResponse({ ...request, handoffs: [], tracing: false } as never);
  const sent = JSON.stringify(scripted.firstCall?.request);
  expect(sent).not.toContain(email);
  expect(sent).toContain('mails [masked]');
});

test('a model of LangChain cannot be given another prompt, so its call is denied', async () => {
  const agent = await world.register('chat-prompts');
  const chat = governChat(agent, new FakeListChatModel({ responses: ['hi'] }), { model: 'masked-three' });
  const call = chat.invoke(`I am ${email}`);
  await expect(call).rejects.toThrow(/must be masked, which this caller cannot do/);
});

test('an agent that asks by itself has its prompt masked by the operation', async () => {
  const agent = await world.register('own-prompts');
  const action = { type: 'llm_call', model: 'masked-own', promptTokens: 1, maxOutputTokens: 1 } as const;
  const sent = await agent.run(
    action,
    async ({ answer, checkPrompt }) => {
      expect(answer.judgePrompt).toBe(true);
      return checkPrompt({ text: `I am ${email}` });
    },
    { canMaskPrompt: true },
  );
  expect(sent).toEqual({ text: 'I am [masked]' });
  const unable = agent.run(action, async () => 'sent');
  await expect(unable).rejects.toThrow(ActionDeniedError);
  const tooLong = agent.run(action, ({ checkPrompt }) => checkPrompt('x'.repeat(17 * 1024 * 1024)), {
    canMaskPrompt: true,
  });
  await expect(tooLong).rejects.toThrow(ResultDenied);
});

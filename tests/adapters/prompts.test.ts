import type { BaseMessage } from '@langchain/core/messages';
import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { Usage } from '@openai/agents-core';
import { ScriptedModel } from '@openai/agents-core/testing';
import type { Agent } from '@reeve/sdk';
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
  - { name: masks, effect: mask, actions: [llm_call], models: ["masked-*"], mask: { detect: [email, secret, card] } }
  - { name: whole, effect: mask, actions: [llm_call], models: [masked-whole], mask: { fields: [tools] } }
  - { name: all, effect: mask, actions: [llm_call], models: [masked-messages], mask: { fields: [messages] } }
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

test('a card that is a number is masked in what tools are described by, and refused in what is sent as it is', async () => {
  const agent = await world.register('ai-cards');
  const { model, seen } = aiModel('masked-one');
  const card = 4_111_111_111_111_111;
  const schema = jsonSchema<{ card: number }>({ properties: { card: { const: card, maximum: 2e15 } } });
  const pay: ToolSet = { pay: tool({ inputSchema: schema }) };
  const asked = { model: governAi(agent, model), prompt: 'hi', tools: pay };
  await generateText({ ...asked, seed: 2e15 });
  expect(seen).toEqual([expect.stringContaining('{"const":"[masked]","maximum":2000000000000000}')]);
  await expect(generateText({ ...asked, seed: card })).rejects.toThrow(
    'Denied by policy: the prompt cannot be masked: a rule masks a text in seed',
  );
  expect(seen).toHaveLength(1);
});

/** What a model of the AI SDK gets of this part of a message, if anything. */
async function sentPart(agent: Agent, modelId: string, part: object): Promise<unknown> {
  const sent: unknown[] = [];
  const model = new MockLanguageModelV4({
    modelId,
    doGenerate: async ({ prompt }) => {
      for (const { content } of prompt) sent.push(content[0]);
      return { content: [{ type: 'text', text: 'hi' }], finishReason, usage, warnings: [] };
    },
  });
  const prompt = [{ role: 'user' as const, content: [part as never] }];
  await governAi(agent, model).doGenerate({ prompt });
  return sent[0];
}

const text = `I am ${email}, é 😀\n`;
const left = 'I am [masked], é 😀\n';
const inBase64 = (said: string) => Buffer.from(said).toString('base64');

test('a text file is masked within its base64, its bytes or its URL, and keeps its type', async () => {
  const agent = await world.register('ai-text-files');
  const file = (mediaType: string, data: unknown) => ({ type: 'file', mediaType, data: { type: 'data', data } });
  for (const [given, sent] of [
    [file('text/plain', inBase64(text)), file('text/plain', inBase64(left))],
    [
      { ...file('', ''), data: inBase64(text) },
      { ...file('', ''), data: inBase64(left) },
    ],
    [file('application/octet-stream', inBase64(text)), file('application/octet-stream', inBase64(left))],
    [file('text/csv', new TextEncoder().encode(text)), file('text/csv', new TextEncoder().encode(left))],
    [file('text/csv', Buffer.from(text)), file('text/csv', Buffer.from(left))],
    [{ url: new URL(`https://x.test/?u=${email}`) }, { url: new URL('https://x.test/?u=[masked]') }],
    [
      { url: new URL(`data:text/plain;base64,${inBase64(text)}`) },
      { url: new URL(`data:text/plain;base64,${inBase64(left)}`) },
    ],
    [
      { url: `data:text/plain;charset=utf-8,${encodeURIComponent(text)}` },
      { url: `data:text/plain;charset=utf-8,${encodeURIComponent(left)}` },
    ],
  ] as const) {
    expect(await sentPart(agent, 'masked-one', given)).toStrictEqual(sent);
    expect(await sentPart(agent, 'plain', given)).toBe(given);
  }
  // What holds nothing to mask, or nothing that is a text, is sent as it was.
  const picture = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]);
  for (const given of [
    file('text/plain', 'aGk='),
    file('image/png', picture),
    file('image/png', Buffer.from(picture).toString('base64')),
    { url: new URL('https://x.test/') },
  ]) {
    expect(await sentPart(agent, 'masked-one', given)).toStrictEqual(given);
  }
  for (const given of [
    file('text/plain', Buffer.from(text, 'utf16le')),
    file('text/plain', Buffer.from(text, 'utf16le').toString('base64')),
    file('application/json', Buffer.from('"é"', 'latin1')),
    { url: `data:text/plain;base64,${Buffer.from(text, 'latin1').toString('base64')}` },
    { data: picture },
  ]) {
    const call = sentPart(agent, 'masked-one', given);
    await expect(call).rejects.toThrow('the prompt cannot be masked: it has a file that cannot be read as text');
  }
});

test('a file in an option or in the description of a tool is judged as what it says', async () => {
  const agent = await world.register('ai-option-files');
  const { model, seen } = aiModel('masked-one');
  const file = `data:text/plain;base64,${inBase64(text)}`;
  const described: ToolSet = { mail: tool({ description: file, inputSchema }) };
  const asked = { model: governAi(agent, model), prompt: 'hi' };
  await generateText({ ...asked, tools: described });
  expect(seen[0]).toContain(inBase64(left));
  const providerOptions = { openai: { file } };
  await expect(generateText({ ...asked, providerOptions })).rejects.toThrow('a rule masks a text in providerOptions');
  expect(seen).toHaveLength(1);
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
    await expect(call).rejects.toThrow('Denied by policy: the prompt cannot be');
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

test('what the OpenAI Agents SDK sends beside the prompt is judged, and not sent if rules would change it', async () => {
  const agent = await world.register('agents-beside');
  const request = { input: 'hi', modelSettings: {}, tools: [], handoffs: [], outputType: 'text', tracing: false };
  for (const beside of [
    { previousResponseId: email },
    { conversationId: email },
    { newerThanThis: { text: `for ${email}` } },
    { newerThanThis: new Date(0) },
  ]) {
    const scripted = new ScriptedModel([]);
    const governed = governAgents(agent, scripted, { model: 'masked-two' });
    const call = governed.getResponse({ ...request, ...beside } as never);
    await expect(call).rejects.toThrow('Denied by policy: the prompt cannot be masked: ');
    expect(scripted.firstCall).toBeUndefined();
  }
});

/** A chat model that keeps what reaches its provider. */
class SeenChat extends FakeStreamingChatModel {
  readonly seen: { readonly messages: readonly BaseMessage[]; readonly text: string }[] = [];

  #note(messages: BaseMessage[], options: object): void {
    const { tools, response_format } = options as { tools?: unknown; response_format?: unknown };
    const text = JSON.stringify([messages, messages.map((each) => Object.entries(each)), tools, response_format]);
    this.seen.push({ messages, text });
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    this.#note(messages, options);
    return { generations: [{ text: 'hi', message: new AIMessage('hi') }] };
  }

  override async *_streamResponseChunks(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    this.#note(messages, options);
    yield new ChatGenerationChunk({ text: 'hi', message: new AIMessageChunk('hi') });
  }
}

const chatTools = [
  { type: 'function', function: { name: 'mail', description: `mails ${email}`, parameters: inputSchema.jsonSchema } },
];

test('a model of LangChain gets its messages as rules have masked them, also where it streams', async () => {
  const agent = await world.register('chat-prompts');
  const inner = new SeenChat({});
  const chat = governChat(agent, inner, { model: 'masked-three' }).withConfig({
    tools: chatTools,
    response_format: { description: `for ${email}`, password: { type: 'string' } },
  } as object);
  const asked = [
    new SystemMessage(`for ${email}`),
    new HumanMessage({ content: [{ type: 'text', text: `I am ${email}` }], name: 'ada' }),
    new AIMessage({
      content: '',
      tool_calls: [{ name: 'find', args: { who: email }, id: 'call-1' }],
      additional_kwargs: {
        tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'find', arguments: `{"who":"${email}"}` } }],
      },
    }),
    new ToolMessage({ content: `found ${email}`, tool_call_id: 'call-1', artifact: { email } }),
  ];
  const kept = JSON.stringify(asked);
  expect((await chat.invoke(asked)).content).toBe('hi');
  for await (const part of await chat.stream(asked)) expect(part.content).toBe('hi');
  expect(inner.seen).toHaveLength(2);
  for (const { messages, text } of inner.seen) {
    expect(text).not.toContain(email);
    expect(text).toContain('mails [masked]');
    expect(text).toContain('"password":{"type":"string"}');
    expect(messages.map((each) => each.getType())).toEqual(['system', 'human', 'ai', 'tool']);
    expect(messages[1]).toBeInstanceOf(HumanMessage);
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'I am [masked]' }]);
    expect(messages[1]?.name).toBe('ada');
    expect((messages[2] as AIMessage).tool_calls).toMatchObject([
      { name: 'find', args: { who: '[masked]' }, id: 'call-1' },
    ]);
    expect(messages[3]).toMatchObject({ content: 'found [masked]', tool_call_id: 'call-1' });
  }
  // The program keeps its own.
  expect(JSON.stringify(asked)).toBe(kept);
});

test('a file in a message of LangChain is masked, and bytes stay bytes', async () => {
  const agent = await world.register('chat-text-files');
  const inner = new SeenChat({});
  const bytes = { type: 'file', mimeType: 'text/plain', data: new TextEncoder().encode(text) };
  const source = { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: inBase64(text) } };
  await governChat(agent, inner, { model: 'masked-one' }).invoke([new HumanMessage({ content: [bytes, source] })]);
  const sent = inner.seen[0]?.messages[0];
  expect(sent).toBeInstanceOf(HumanMessage);
  expect(sent?.content).toStrictEqual([
    { ...bytes, data: new TextEncoder().encode(left) },
    { ...source, source: { ...source.source, data: inBase64(left) } },
  ]);
});

test('messages of LangChain that cannot be masked are not sent', async () => {
  const agent = await world.register('chat-files');
  const bytes = new HumanMessage({ content: [{ type: 'file', mimeType: 'text/plain', data: new Uint8Array([1]) }] });
  for (const [model, message, tools] of [
    ['masked-one', bytes, chatTools],
    ['masked-one', new HumanMessage('hi'), [{ function: { name: 'x', parameters: new Date(0) } }]],
    ['masked-whole', new HumanMessage('hi'), chatTools],
    ['masked-messages', new HumanMessage('hi'), chatTools],
  ] as const) {
    const inner = new SeenChat({});
    const chat = governChat(agent, inner, { model }).withConfig({ tools } as object);
    await expect(chat.invoke([message])).rejects.toThrow('Denied by policy: the prompt cannot be');
    expect(inner.seen).toEqual([]);
    expect((await world.op(agent)).cost_micros).toBe(0);
  }
});

/** What a graph gives to the models that it calls. */
class GraphStore {
  readonly kept = email;
}

test('an option of LangChain that rules would change is not sent, and what is no plain JSON neither', async () => {
  const agent = await world.register('chat-options');
  const schema = { type: 'object', properties: { who: { type: 'string', description: `as ${email}` } } };
  const call = async (model: string, options: object) => {
    const inner = new SeenChat({});
    const chat = governChat(agent, inner, { model }).withConfig(options);
    const outcome = await chat.invoke([new HumanMessage(`I am ${email}`)]).catch(() => 'not sent');
    return { outcome, sent: inner.seen.map(({ text }) => text) };
  };
  for (const options of [
    { output_config: { format: { type: 'json_schema', schema } } },
    { responseSchema: schema },
    { text: { format: { type: 'json_schema', schema } } },
    { tool_choice: { name: email } },
    { outputSchema: new Date(0) },
  ]) {
    expect(await call('masked-one', options)).toEqual({ outcome: 'not sent', sent: [] });
    expect((await world.op(agent)).cost_micros).toBe(0);
    expect((await call('plain', options)).sent).toHaveLength(1);
  }
  // What a graph hands to its nodes reaches no provider.
  const store = new GraphStore();
  const fine = { store, context: { email }, writer: () => email, control: store, temperature: 0, stop: ['.'] };
  const { sent } = await call('masked-one', fine);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toContain('I am [masked]');
});

test('an option of the other models that rules would change is not sent', async () => {
  const agent = await world.register('other-options');
  const { model, seen } = aiModel('masked-one');
  const providerOptions = { openai: { instructions: `for ${email}` } };
  const asked = { model: governAi(agent, model), prompt: 'hi', maxRetries: 0 };
  await expect(generateText({ ...asked, providerOptions })).rejects.toThrow();
  expect(seen).toEqual([]);
  expect((await generateText({ ...asked, headers: { 'x-team': 'core' } })).text).toBe('hi');
  const scripted = new ScriptedModel([]);
  const governed = governAgents(agent, scripted, { model: 'masked-two' });
  const byName = { ...asked, providerOptions: { openai: { [email]: 'yes' } } };
  await expect(generateText(byName)).rejects.toThrow('a rule masks a text in providerOptions');
  expect(seen).toHaveLength(1);
  const modelSettings = { providerData: { instructions: `for ${email}` } };
  const request = { input: 'hi', modelSettings, tools: [], handoffs: [], outputType: 'text', tracing: false };
  await expect(governed.getResponse(request as never)).rejects.toThrow(
    'the prompt cannot be masked: a rule masks a text in modelSettings',
  );
  expect(scripted.firstCall).toBeUndefined();
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

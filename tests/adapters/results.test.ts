import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as chatTool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Client as McpClient, InMemoryTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  GetTaskPayloadRequestSchema,
  ListTasksRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { McpServer } from '@modelcontextprotocol/server';
import type { CheckResultRequest } from '@reeve/contract';
import { ActionType, Decision } from '@reeve/contract';
import { ActionDeniedError } from '@reeve/sdk';
import { govern as governAi, governModel as governAiModel } from '@reeve/sdk/ai';
import { permissions } from '@reeve/sdk/claude-agent';
import { govern as governChat, governModel as governChatModel } from '@reeve/sdk/langchain';
import { govern as governMcp } from '@reeve/sdk/mcp';
import { govern as governAgents } from '@reeve/sdk/openai-agents';
import { generateText, jsonSchema, streamText, tool as aiTool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { Agent as AgentsAgent, handoff, RunContext } from '@openai/agents-core';
import { beforeEach, afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../packages/sdk/test/client.ts';
import { startClient } from '../../packages/sdk/test/client.ts';
import { allowing, answering, judging, masking, passing } from '../../packages/sdk/test/scripted-answers.ts';

/** What the table does not speak of: parts, artifacts, models, handoffs, and hosts that cannot replace a result. */

let client: Client;

beforeEach(async () => {
  // Masks every address, wherever it stands.
  client = await startClient({
    checkAction: judging,
    checkResult: ({ resultJson }) => {
      const text = Buffer.from(resultJson).toString();
      if (text.includes('sk-')) return { ...passing(), decision: Decision.DENY, reason: 'holds a secret' };
      return text.includes('a@b.de') ? masking(text.replaceAll('a@b.de', '[mail]')) : passing();
    },
  });
});

afterEach(() => client[Symbol.asyncDispose]());

function judged(): string[] {
  const sent = client.gateway.messages<CheckResultRequest>('checkResult');
  return sent.map(({ resultJson }) => Buffer.from(resultJson).toString());
}

const schema = jsonSchema<{ q: string }>({ type: 'object', properties: { q: { type: 'string' } } });

async function partsOf(parts: unknown): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const part of parts as AsyncIterable<unknown>) seen.push(part);
  return seen;
}

describe('the AI SDK', () => {
  const yielding = (last: string) =>
    governAi(client.agent, {
      search: aiTool({
        inputSchema: schema,
        async *execute() {
          yield 'looking for a@b.de';
          yield last;
        },
      }),
    }).search.execute?.({ q: 'x' }, { toolCallId: '1', messages: [], context: {} });

  test('a tool that yields passes on its last part alone, judged', async () => {
    expect(await partsOf(yielding('found a@b.de'))).toEqual(['found [mail]']);
    expect(judged()).toEqual(['found a@b.de']);
  });

  test('a tool that yields passes on nothing if its result is denied', async () => {
    await expect(partsOf(yielding('sk-live'))).rejects.toThrow('Denied by policy: holds a secret');
  });

  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const finishReason = { unified: 'stop' as const, raw: undefined };

  test('what a model says is judged, and its raw answer is left out', async () => {
    const model = governAiModel(
      client.agent,
      new MockLanguageModelV4({
        doGenerate: {
          content: [{ type: 'text', text: 'write to a@b.de' }],
          finishReason,
          usage,
          warnings: [],
          response: { timestamp: new Date(0), body: 'a@b.de' },
        },
      }),
    );
    const { text, response } = await generateText({ model, prompt: 'go', maxRetries: 0 });
    expect(text).toBe('write to [mail]');
    expect(JSON.stringify(response)).not.toContain('a@b.de');
  });

  test('a streamed call of a model is denied beforehand, with the way out', async () => {
    let isCalled = false;
    const doStream = async () => {
      isCalled = true;
      return { stream: simulateReadableStream({ chunks: [{ type: 'finish' as const, finishReason, usage }] }) };
    };
    const model = governAiModel(client.agent, new MockLanguageModelV4({ doStream }));
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model,
      prompt: 'go',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await partsOf(fullStream);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(ActionDeniedError);
    expect(String(errors[0])).toMatch(/Denied by policy: .* call it without streaming/);
    expect(isCalled).toBe(false);
  });
});

describe('LangChain', () => {
  const options = { name: 'search', description: 'search', schema: z.object({ q: z.string() }) };
  const call = { name: 'search', args: { q: 'x' }, id: 'call-1', type: 'tool_call' as const };

  test('the content is judged, and there is no artifact that nobody has judged', async () => {
    const plain = chatTool(() => ['found a@b.de', { raw: 'a@b.de' }], {
      ...options,
      responseFormat: 'content_and_artifact',
    });
    const message = await governChat(client.agent, plain).invoke(call);
    expect(message.content).toBe('found [mail]');
    expect(message.artifact).toBeUndefined();
    expect(judged()).toEqual(['found a@b.de']);
  });

  test('a message of a tool is another one, which keeps nothing of the first', async () => {
    const plain = chatTool(
      () => new ToolMessage({ content: 'found a@b.de', tool_call_id: 'call-1', artifact: 'a@b.de' }),
      options,
    );
    const message = await governChat(client.agent, plain).invoke(call);
    expect(message).toBeInstanceOf(ToolMessage);
    expect(message.content).toBe('found [mail]');
    expect(JSON.stringify(message)).not.toContain('a@b.de');
  });

  test('an interrupt of a graph stays what it is', async () => {
    class GraphInterrupt extends Error {
      readonly interrupts = [{ value: 'may I?' }];
      get is_bubble_up() {
        return true;
      }
    }
    const thrown = new GraphInterrupt('interrupted');
    const plain = chatTool(() => {
      throw thrown;
    }, options);
    await expect(governChat(client.agent, plain).invoke(call)).rejects.toBe(thrown);
  });

  test('parts of a tool that yields are told to nobody', async () => {
    const events: unknown[] = [];
    const plain = chatTool(async function* search() {
      yield 'looking for a@b.de';
      return 'found a@b.de';
    }, options);
    const handler = { handleToolEvent: (event: unknown) => void events.push(event) };
    const message = await governChat(client.agent, plain).invoke(call, { callbacks: [handler] });
    expect(message.content).toBe('found [mail]');
    expect(events).toEqual([]);
  });

  test('what a model says is judged, and a stream of it denied', async () => {
    class Speaking extends FakeListChatModel {
      override async _generate() {
        const message = new AIMessage({ content: 'write to a@b.de' });
        return { generations: [{ message, text: 'write to a@b.de' }] };
      }
    }
    const model = governChatModel(client.agent, new Speaking({ responses: ['unused'] }));
    const answer = await model.invoke([new HumanMessage('go')]);
    expect(answer.content).toBe('write to [mail]');
    expect(JSON.stringify(answer)).not.toContain('a@b.de');
    await expect(model.stream('go').then(partsOf)).rejects.toThrow('cannot be judged while it streams');
  });
});

test('a client of MCP is told of progress without its text', async () => {
  const server = new McpServer({ name: 'docs', version: '1' });
  server.registerTool('search', { inputSchema: z.object({ q: z.string() }) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? '';
    const params = { progressToken, progress: 1, message: 'looking for a@b.de' };
    await mcpReq.notify({ method: 'notifications/progress', params });
    return { content: [{ type: 'text', text: 'found a@b.de' }], isError: true };
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const governed = governMcp(client.agent, new McpClient({ name: 'c', version: '1' }), { server: 'docs' });
  await Promise.all([server.connect(far), governed.connect(near)]);
  const told: unknown[] = [];
  const onprogress = (progress: unknown) => void told.push(progress);
  const result = await governed.callTool({ name: 'search', arguments: { q: 'x' } }, { onprogress });
  expect(result.content).toEqual([{ type: 'text', text: 'found [mail]' }]);
  expect(told).toEqual([{ progress: 1, message: undefined }]);
  await governed.close();
});

describe('a client of MCP whose results are judged', () => {
  /** A server that logs what it found, and puts off the result of `late`, unasked. */
  async function connected() {
    const server = new OldServer(
      { name: 'docs', version: '1' },
      { capabilities: { tools: {}, logging: {}, tasks: { list: {} } } },
    );
    const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
    const asTask = {
      taskId: 'task-1',
      status: 'working' as const,
      ttl: null,
      createdAt: '',
      lastUpdatedAt: '',
      pollInterval: 1,
    };
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, task } }) => {
      await server.sendLoggingMessage({ level: 'info', data: 'found a@b.de' });
      await server.notification({ method: 'notifications/cancelled', params: { requestId: 0, reason: 'a@b.de' } });
      if (name === 'search' && task === undefined) return said('found a@b.de');
      return { task: asTask };
    });
    server.setRequestHandler(ListTasksRequestSchema, () => ({ tasks: [{ ...asTask, statusMessage: 'a@b.de' }] }));
    server.setRequestHandler(GetTaskPayloadRequestSchema, () => said('found a@b.de'));
    const [near, far] = OldTransport.createLinkedPair();
    const plain = new OldClient({ name: 'c', version: '1' });
    const heard: unknown[] = [];
    plain.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data));
    plain.fallbackNotificationHandler = async (notification) => void heard.push(notification);
    const governed = governMcp(client.agent, plain, { server: 'docs' });
    await Promise.all([server.connect(far), governed.connect(near)]);
    const log = (data: string) => server.sendLoggingMessage({ level: 'info', data });
    return { governed, heard, log };
  }
  const taskOf = { method: 'tasks/result' as const, params: { taskId: 'task-1' } };
  const denied = expect.objectContaining({
    isError: true,
    content: [expect.objectContaining({ text: expect.stringMatching(/^Denied by policy: .*task/) as unknown })],
  }) as unknown;

  test('hears of logs no more, from the first call on', async () => {
    const { governed, heard, log } = await connected();
    await log('ready');
    await governed.ping();
    expect(heard).toEqual(['ready']);
    await governed.callTool({ name: 'search', arguments: {} });
    await log('a@b.de');
    await governed.ping();
    expect(heard).toEqual(['ready']);
    await governed.close();
  });

  test('gets no result as that of a task, however it asks', async () => {
    const { governed } = await connected();
    const asTask = { name: 'search', arguments: {}, task: { ttl: 1000 } };
    expect(await governed.request({ method: 'tools/call', params: asTask }, z.unknown())).toEqual(denied);
    expect(await governed.callTool({ name: 'search', arguments: {} }, undefined, { task: { ttl: 1000 } })).toEqual(
      denied,
    );
    expect(await governed.request({ method: 'tools/call', params: { name: 'late' } }, z.unknown())).toEqual(denied);
    const refused = /Denied by policy: .*tasks/;
    await expect(governed.request(taskOf, z.unknown())).rejects.toThrow(refused);
    await expect(governed.experimental.tasks.getTaskResult('task-1', z.unknown() as never)).rejects.toThrow(refused);
    await expect(governed.experimental.tasks.listTasks()).rejects.toThrow(refused);
    await governed.close();
  });

  test('gets the results of tasks that calls have begun which nobody judges', async () => {
    const { governed } = await connected();
    client.gateway.script.checkAction = allowing;
    await governed.request({ method: 'tools/call', params: { name: 'late' } }, z.unknown());
    client.gateway.script.checkAction = judging;
    await governed.callTool({ name: 'search', arguments: {} });
    expect(JSON.stringify(await governed.request(taskOf, z.unknown()))).toContain('a@b.de');
    await governed.close();
  });
});

test('whoever takes over by a handoff is no result, and nothing is what is judged', async () => {
  const next = new AgentsAgent({ name: 'billing' });
  const [governed] = governAgents(client.agent, [handoff(next)]);
  expect(await governed?.onInvokeHandoff(new RunContext(), '{}')).toBe(next);
  expect(judged()).toEqual(['null']);
});

test('permissions deny beforehand what hooks could not keep from the model', async () => {
  client.gateway.script.checkAction = (request) =>
    answering(Decision.ALLOW, request, { judgeResult: request.actionType === ActionType.TOOL_CALL });
  const { hooks } = permissions(client.agent, { runId: 'run' });
  const before = (tool: string, id: string) =>
    hooks.PreToolUse[0]?.hooks[0]?.(
      { hook_event_name: 'PreToolUse', tool_name: tool, tool_input: { file_path: '/x' }, tool_use_id: id },
      id,
      { signal: new AbortController().signal },
    );
  expect(await before('mcp__crm__lookup', 'one')).toMatchObject({
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/^Denied by policy: .* by govern\(\)$/) as string,
    },
  });
  expect(await before('Read', 'two')).toEqual({});
});

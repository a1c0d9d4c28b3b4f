import { tool as chatTool } from '@langchain/core/tools';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { Agent as OpenAiAgent, handoff, Runner, tool as agentsTool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { currentOperation, ReeveInvalidRequest } from '@reeve/sdk';
import { govern as governAi } from '@reeve/sdk/ai';
import { permissions } from '@reeve/sdk/claude-agent';
import { govern as governChat } from '@reeve/sdk/langchain';
import { govern as governMcp } from '@reeve/sdk/mcp';
import { govern as governAgents } from '@reeve/sdk/openai-agents';
import type { ModelMessage } from 'ai';
import { generateText, jsonSchema, tool as aiTool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '../harness/eventually.ts';
import { AdapterWorld } from './adapter-world.ts';

const policy = `
name: tools
default: allow
rules:
  - { name: no-wiping, effect: deny, tools: [wipe] }
  - { name: no-secrets, effect: deny, paths: [/etc/**] }
  - { name: ask, effect: require_approval, tools: [deploy] }
  - { name: ask-commands, effect: require_approval, commands: ['ship **'] }
  - { name: no-spies, effect: deny, actions: [agent_spawn], commands: ['transfer_to_spy'] }
`;

let world: AdapterWorld;

beforeAll(async () => {
  world = await AdapterWorld.start(policy);
});

afterAll(() => world[Symbol.asyncDispose]());

const schema = jsonSchema<{ version: string }>({ type: 'object', properties: { version: { type: 'string' } } });
const call = { toolCallId: 'one', messages: [], context: {} };

test('tools of the AI SDK keep their types, and one that yields stays a stream', async () => {
  const agent = await world.register('ai-tools');
  const plain = {
    count: aiTool({
      inputSchema: schema,
      async *execute() {
        yield currentOperation()?.state;
        yield 'two';
      },
    }),
  };
  const { count } = governAi(agent, plain);
  expectTypeOf(governAi(agent, plain)).toEqualTypeOf<typeof plain>();
  const yielded: unknown[] = [];
  const stream = count.execute?.({ version: '1' }, call) ?? [];
  for await (const each of stream as AsyncIterable<unknown>) yielded.push(each);
  expect(yielded).toEqual(['running', 'two']);
  await eventually(async () =>
    expect(await world.ops(agent)).toMatchObject([{ resource: 'count', state: 'completing' }]),
  );
});

test('what cannot be governed is refused when it is given, not when it runs', async () => {
  const agent = await world.register('refused-tools');
  const nameless = aiTool({ inputSchema: schema, execute: () => 'x' });
  const elsewhere = aiTool({ inputSchema: schema });
  expect(() => governAi(agent, nameless)).toThrow(ReeveInvalidRequest);
  expect(await governAi(agent, nameless, { name: 'named' }).execute?.({ version: '1' }, call)).toBe('x');
  expect(() => governAi(agent, { elsewhere })).toThrow('the tool elsewhere has no "execute"');
  expect(() => governAgents(agent, { type: 'hosted_tool', name: 'web_search' })).toThrow(ReeveInvalidRequest);
  expect(() => governChat(agent, { name: 'server_tool' })).toThrow(ReeveInvalidRequest);
});

test('a held call of the AI SDK ends the step, and goes on as the same operation once it is approved', async () => {
  const agent = await world.register('ai-interrupt');
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const end = { usage, warnings: [], finishReason: { unified: 'stop' as const, raw: undefined } };
  const asks = { type: 'tool-call' as const, toolCallId: 'call-6', toolName: 'deploy', input: '{"version":"6"}' };
  const says = { type: 'text' as const, text: 'done' };
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: [asks], ...end },
      { content: [says], ...end },
    ],
  });
  const deploy = aiTool({ inputSchema: schema, execute: ({ version }) => `deployed ${version}` });
  const tools = governAi(agent, { deploy }, { interrupt: true, runId: 'run-6' });
  const messages: ModelMessage[] = [{ role: 'user', content: 'go' }];
  const first = await generateText({ model, tools, messages });
  const request = first.content.find(({ type }) => type === 'tool-approval-request') as
    | { approvalId: string }
    | undefined;
  messages.push(...first.response.messages);
  await world.approve(agent);
  const response = { type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true } as const;
  messages.push({ role: 'tool', content: [response] });
  expect((await generateText({ model, tools, messages })).text).toBe('done');
  await eventually(async () => {
    expect(await world.ops(agent)).toMatchObject([{ op_id: 'run-6:call-6', state: 'completing' }]);
  });
});

test('a held call of LangChain interrupts the graph, and goes on as the same operation once it is approved', async () => {
  const agent = await world.register('chat-interrupt');
  let ran = 0;
  const plain = chatTool(() => `deployed ${++ran}`, {
    name: 'deploy',
    description: 'deploys',
    schema: z.object({ version: z.string() }),
  });
  let isResumed = false;
  const interrupt = (held: { approval_id: string | undefined }) => {
    if (!isResumed) throw new Error(`interrupted for ${held.approval_id}`);
  };
  const [governed = plain] = governChat(agent, [plain], { interrupt });
  expectTypeOf(governed).toEqualTypeOf<typeof plain>();
  expect(governed).toBeInstanceOf(plain.constructor);
  const use = { type: 'tool_call', name: 'deploy', args: { version: '7' }, id: 'call-7' } as const;
  const config = { configurable: { thread_id: 'thread-7' } };
  await expect(governed.invoke(use, config)).rejects.toThrow(/^interrupted for [\w-]+$/);
  expect(ran).toBe(0);
  await world.approve(agent);
  isResumed = true;
  expect(await governed.invoke(use, config)).toMatchObject({ content: 'deployed 1' });
  await eventually(async () => {
    expect(await world.ops(agent)).toMatchObject([
      { op_id: 'thread-7:call-7', state: 'completing', run_id: 'thread-7' },
    ]);
  });
});

test('a held call of the OpenAI Agents SDK interrupts the run, and goes on as the same operation once it is approved', async () => {
  const agent = await world.register('agents-interrupt');
  const plain = agentsTool({
    name: 'deploy',
    description: 'deploys',
    parameters: z.object({ version: z.string(), note: z.string() }),
    execute: ({ version }) => `deployed ${version}`,
  });
  const governed = governAgents(agent, plain, { interrupt: true, runId: 'run-8' });
  expectTypeOf(governed).toEqualTypeOf<typeof plain>();
  const model = new ScriptedModel([
    // The schema has another order. The operation must stay the same all the same.
    [functionCall('deploy', '{"note": "x", "version": "8"}', { callId: 'call-8' })],
    [assistantMessage('done')],
  ]);
  const deployer = new OpenAiAgent({ name: 'deployer', tools: [governed], model });
  const runner = new Runner({ tracingDisabled: true });
  const { state, interruptions } = await runner.run(deployer, 'go');
  expect(interruptions).toHaveLength(1);
  await world.approve(agent);
  for (const each of interruptions) state.approve(each);
  expect((await runner.run(deployer, state)).finalOutput).toBe('done');
  await eventually(async () => {
    expect(await world.ops(agent)).toMatchObject([{ op_id: 'run-8:call-8', state: 'completing' }]);
  });
});

test('a handoff of the OpenAI Agents SDK is the start of another agent', async () => {
  const agent = await world.register('agents-handoff');
  const runner = new Runner({ tracingDisabled: true });
  const run = (name: string) => {
    const other = new OpenAiAgent({ name, model: new ScriptedModel([[assistantMessage(`${name} here`)]]) });
    const model = new ScriptedModel([[functionCall(`transfer_to_${name}`, {}, { callId: 'call-9' })]]);
    const first = new OpenAiAgent({ name: 'first', model, handoffs: governAgents(agent, [handoff(other)]) });
    return runner.run(first, 'go');
  };
  expect((await run('helper')).finalOutput).toBe('helper here');
  expect(await world.ops(agent)).toMatchObject([{ action_type: 'agent_spawn', resource: 'transfer_to_helper' }]);
  await expect(run('spy')).rejects.toThrow('Denied by policy: ');
});

const input = { inputSchema: z.object({ version: z.string() }) };
const found = { content: [{ type: 'text' as const, text: 'found' }] };

test('an MCP client lists what it may call, and has no way around the check', async () => {
  const agent = await world.register('mcp-client');
  const server = new McpServer({ name: 'files', version: '1' });
  for (const name of ['search', 'wipe']) server.registerTool(name, input, () => found);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = governMcp(agent, new Client({ name: 'test', version: '1' }), { server: 'files' });
  expect(client).toBeInstanceOf(Client);
  await Promise.all([server.connect(far), client.connect(near)]);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search']);
  const params = { name: 'wipe', arguments: { version: '1' } };
  const refused = { isError: true, content: [{ text: expect.stringContaining('Denied by policy: ') as string }] };
  expect(await client.callTool(params)).toMatchObject(refused);
  expect(await client.request({ method: 'tools/call', params })).toMatchObject(refused);
  expect(await client.callTool({ name: 'search', arguments: { version: '1' } })).toMatchObject(found);
  const called = (await world.ops(agent)).filter(({ resource }) => resource === 'search');
  expect(called).toHaveLength(1);
  await client.close();
});

test('an MCP client of the first generation is governed as well, and hears of a termination', async () => {
  const agent = await world.register('mcp-old');
  const server = new OldServer({ name: 'files', version: '1' });
  let stopped: AbortSignal | undefined;
  server.registerTool('wait', input, async (_, { signal }) => {
    stopped = signal;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return found;
  });
  const [near, far] = OldTransport.createLinkedPair();
  const client = governMcp(agent, new OldClient({ name: 'test', version: '1' }), { server: 'files' });
  await Promise.all([server.connect(far), client.connect(near)]);
  const waiting = client.callTool({ name: 'wait', arguments: { version: '1' } });
  await eventually(() => expect(stopped).toBeDefined());
  await world.terminate(agent, 'enough');
  expect(await waiting).toMatchObject({ isError: true, content: [{ text: 'Stopped by an operator: enough' }] });
  await eventually(() => expect(stopped?.aborted).toBe(true));
  expect(() => client.experimental.tasks.callToolStream({ name: 'wait' })).toThrow('is not governed');
  const { requestStream } = client as unknown as { requestStream: (request: object) => unknown };
  expect(() => requestStream({ method: 'tools/call', params: { name: 'wait' } })).toThrow('is not governed');
  await client.close();
});

const how = { signal: new AbortController().signal };

test('permissions of the Claude Agent SDK check before a tool, report after it, and ask once', async () => {
  const agent = await world.register('claude');
  const { hooks, canUseTool } = permissions(agent);
  const before = hooks.PreToolUse[0]?.hooks[0];
  const after = hooks.PostToolUse[0]?.hooks[0];
  const use = {
    session_id: 'session-1',
    tool_name: 'Read',
    tool_use_id: 'use-1',
    tool_input: { file_path: '/home/a' },
  };
  expect(await before?.({ hook_event_name: 'PreToolUse', ...use }, 'use-1', how)).toEqual({});
  expect(await canUseTool('Read', use.tool_input, { ...how, toolUseID: 'use-1' })).toMatchObject({ behavior: 'allow' });
  expect(await world.ops(agent)).toMatchObject([
    { op_id: 'session-1:use-1', action_type: 'file_operation', state: 'running' },
  ]);
  expect(await after?.({ hook_event_name: 'PostToolUse', ...use, tool_response: 'x' }, 'use-1', how)).toEqual({});
  expect(await world.ops(agent)).toMatchObject([{ state: 'completing', run_id: 'session-1' }]);
  const other = { ...how, toolUseID: 'use-1b' };
  expect(await before?.({ hook_event_name: 'PreToolUse', ...use, tool_use_id: 'use-1b' }, 'use-1b', how)).toEqual({});
  expect(await canUseTool('Read', { file_path: '/etc/shadow' }, other)).toMatchObject({ behavior: 'deny' });
  expect(await hooks.SessionEnd[0]?.hooks[0]?.({ hook_event_name: 'SessionEnd' }, undefined, how)).toEqual({});
  expect((await world.ops(agent)).filter(({ state }) => state === 'running')).toEqual([]);
  const secret = { ...use, tool_use_id: 'use-2', tool_input: { file_path: '/etc/shadow' } };
  expect(await before?.({ hook_event_name: 'PreToolUse', ...secret }, 'use-2', how)).toMatchObject({
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('Denied by policy: ') as string,
    },
  });
});

test('people see the folder in which the Claude Agent SDK runs a command', async () => {
  const agent = await world.register('claude-folders');
  const { hooks, canUseTool } = permissions(agent, { cwd: '/srv/other', approvalWaitMs: 0 });
  const before = hooks.PreToolUse[0]?.hooks[0];
  const use = { hook_event_name: 'PreToolUse', session_id: 's', tool_name: 'Bash', tool_input: { command: 'ship it' } };
  const denied = { hookSpecificOutput: { permissionDecision: 'deny' } };
  expect(await before?.({ ...use, tool_use_id: 'a', cwd: '/srv/shop' }, 'a', how)).toMatchObject(denied);
  expect(await canUseTool('Bash', use.tool_input, how)).toMatchObject({ behavior: 'deny' });
  const titles = (await world.approvals(agent)).map(({ title }) => title);
  expect(titles.toSorted()).toEqual(['ship it (in /srv/other)', 'ship it (in /srv/shop)']);
  const file = { ...use, tool_name: 'Read', tool_input: { file_path: '../shadow' }, cwd: '/etc/x' };
  expect(await before?.({ ...file, tool_use_id: 'b' }, 'b', how)).toMatchObject(denied);
});

test('no server can pass for one that is governed elsewhere', async () => {
  const agent = await world.register('claude-servers');
  const { canUseTool } = permissions(agent, { governed: ['files'] });
  const from = (name: string, source: string) => ({ ...how, mcpServer: { name, source } });
  const behaviorOf = async (tool: string, options: typeof how) => (await canUseTool(tool, {}, options)).behavior;
  expect(await behaviorOf('mcp__files__wipe', how)).toBe('allow');
  expect(await behaviorOf('mcp__files__wipe', from('files', 'sdk'))).toBe('allow');
  expect(await behaviorOf('mcp__files__wipe', from('files', 'project'))).toBe('deny');
  expect(await behaviorOf('mcp__other__wipe', how)).toBe('deny');
});

test('without the hooks, the permissions of the Claude Agent SDK still refuse, and leave nothing open', async () => {
  const agent = await world.register('claude-alone');
  const { canUseTool } = permissions(agent);
  const denied = await canUseTool('mcp__files__wipe', {}, how);
  expect(denied).toEqual({ behavior: 'deny', message: expect.stringContaining('Denied by policy: ') as string });
  expect(await canUseTool('Task', { subagent_type: 'reviewer' }, how)).toMatchObject({ behavior: 'allow' });
  const allowed = (await world.ops(agent)).filter(({ state }) => state !== 'terminated');
  expect(allowed).toMatchObject([{ action_type: 'agent_spawn', resource: 'reviewer', state: 'completing' }]);
});

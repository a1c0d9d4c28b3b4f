import { tool as chatTool } from '@langchain/core/tools';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { RunContext, tool as agentsTool } from '@openai/agents-core';
import type { Agent } from '@reeve/sdk';
import { connect, currentOperation, OperationTerminatedError } from '@reeve/sdk';
import { govern as governAi } from '@reeve/sdk/ai';
import { permissions } from '@reeve/sdk/claude-agent';
import { govern as governChat } from '@reeve/sdk/langchain';
import { govern as governMcp } from '@reeve/sdk/mcp';
import { govern as governAgents } from '@reeve/sdk/openai-agents';
import { jsonSchema, tool as aiTool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

/** Ways around the check, or past what was checked. */
const policy = `
name: hostile
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [deploy] }
`;

let gateway: TestGateway;
let reeve: ReturnType<typeof connect>;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'hostile.yaml': policy } });
  reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 20_000 });
});

afterAll(async () => {
  reeve.close();
  await gateway[Symbol.asyncDispose]();
});

function register(agentId: string): Promise<Agent> {
  return reeve.register({ orgId: 'acme', teamId: 'core', agentId });
}

async function itemsOf<Item>(path: string): Promise<readonly Item[]> {
  return (await gateway.api.get<{ items: Item[] }>(path, bootstrapKey)).body.items;
}

function opsOf({ id }: Agent) {
  return itemsOf<{ op_id: string; state: string; outcome: string | null }>(`/api/v1/ops?agent_id=${id.agentId}`);
}

/** Does something while a call is held, and then approves it. */
async function approveAfter({ id }: Agent, meanwhile: () => void): Promise<void> {
  const approval = await eventually(async () => {
    const [found] = await itemsOf<{ id: string }>(`/api/v1/approvals?agent_id=${id.agentId}`);
    expect(found).toBeDefined();
    return found;
  });
  meanwhile();
  const { status } = await gateway.api.post(`/api/v1/approvals/${approval?.id}/approve`, bootstrapKey, {});
  expect(status).toBe(200);
}

const changed = 'the arguments were changed after they had been checked';
const schema = jsonSchema<{ version: string }>({ type: 'object', properties: { version: { type: 'string' } } });
const call = { toolCallId: 'one', messages: [], context: {} };
const how = { signal: new AbortController().signal };

test('a tool does not run with other arguments than those that a person has approved', async () => {
  const ran: unknown[] = [];
  const deploy = aiTool({
    inputSchema: schema,
    execute: (input) => {
      ran.push(input);
      return 'done';
    },
  });
  const streamed = aiTool({
    inputSchema: schema,
    async *execute(input) {
      ran.push(input);
      yield 'done';
    },
  });
  for (const [name, tool] of Object.entries({ once: deploy, streamed })) {
    const agent = await register(`changes-${name}`);
    const governed = governAi(agent, { deploy: tool }).deploy;
    const input = { version: '1' };
    const result = (async () => {
      const value = await governed.execute?.(input, call);
      if (typeof value === 'object') for await (const part of value) ran.push(part);
    })();
    await Promise.all([expect(result).rejects.toThrow(changed), approveAfter(agent, () => (input.version = '2'))]);
    expect(await opsOf(agent)).toMatchObject([{ state: expect.not.stringMatching('running') as string }]);
  }
  expect(ran).toEqual([]);
});

test('a call of an MCP client is sent as it was checked', async () => {
  const agent = await register('changes-mcp');
  const server = new McpServer({ name: 'files', version: '1' });
  const ran: unknown[] = [];
  for (const name of ['deploy', 'wipe']) {
    server.registerTool(name, { inputSchema: z.object({ version: z.string() }) }, ({ version }) => {
      ran.push([name, version]);
      return { content: [] };
    });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = governMcp(agent, new Client({ name: 'test', version: '1' }), { server: 'files' });
  await Promise.all([server.connect(far), client.connect(near)]);
  const params = { name: 'deploy', arguments: { version: '1' } };
  const answer = client.callTool(params);
  await approveAfter(agent, () => Object.assign(params, { name: 'wipe', arguments: { version: '2' } }));
  expect(await answer).toMatchObject({ content: [] });
  expect(ran).toEqual([['deploy', '1']]);
  await client.close();
});

test('calls of two runs that have the same id are not taken for each other', async () => {
  const agent = await register('agents-ids');
  let run = '';
  const show = agentsTool({
    name: 'show',
    description: 'shows',
    parameters: z.object({ version: z.string() }),
    execute: ({ version }) => `shown ${version}`,
  });
  const governed = governAgents(agent, show, { interrupt: true, runId: () => run });
  const context = new RunContext({});
  const uses = { first: { version: '1' }, second: { version: '2' } };
  for (const [name, input] of Object.entries(uses)) {
    run = name;
    expect(await governed.needsApproval(context, input, 'call_0')).toBe(false);
  }
  for (const [name, input] of Object.entries(uses)) {
    run = name;
    const details = { toolCall: { type: 'function_call', callId: 'call_0', name: 'show', arguments: '' } } as const;
    expect(await governed.invoke(context, JSON.stringify(input), details)).toBe(`shown ${input.version}`);
  }
  // Without a name, it would be the call of whoever else has none.
  run = '';
  await expect(governed.needsApproval(context, uses.first, 'call_0')).rejects.toThrow('needs a name of its own');
});

test('a tool of LangChain that yields is an operation until its end, and can be stopped before', async () => {
  const agent = await register('chat-stream');
  const states: unknown[] = [];
  const events: unknown[] = [];
  const count = chatTool(
    async function* counted({ version }: { version: string }) {
      states.push(currentOperation()?.state);
      yield `${version}.1`;
      states.push(currentOperation()?.state);
      return 'whole';
    },
    { name: 'count', description: 'counts', schema: z.object({ version: z.string() }) },
  );
  const callbacks = [{ handleToolEvent: (event: unknown) => void events.push(event) }];
  expect(await governChat(agent, count).invoke({ version: '1' }, { callbacks })).toBe('whole');
  expect([states, events]).toEqual([['running', 'running'], ['1.1']]);
  const endless = chatTool(
    async function* endless() {
      for (;;) yield await new Promise((resolve) => setTimeout(resolve, 5, 'more'));
    },
    { name: 'endless', description: 'goes on', schema: z.object({}) },
  );
  const going = governChat(agent, endless).invoke({});
  const ended = expect(going).rejects.toBeInstanceOf(OperationTerminatedError);
  const op = await eventually(async () => {
    const found = (await opsOf(agent)).find(({ state }) => state === 'running');
    expect(found).toBeDefined();
    return found;
  });
  await gateway.api.post(`/api/v1/ops/${encodeURIComponent(op?.op_id ?? '')}/terminate`, bootstrapKey, {});
  await ended;
});

/** A hook that throws, or ends too late, stops nothing: the tool would run. */
test('the hook of the Claude Agent SDK says no whatever goes wrong', async () => {
  const agent = await register('claude-hostile');
  const use = { hook_event_name: 'PreToolUse', session_id: 's', tool_name: 'Read', tool_input: { file_path: '/a' } };
  const denial = { hookSpecificOutput: { permissionDecision: 'deny' } };
  const broken = permissions(agent, {
    costs: () => {
      throw new TypeError('rvk_secret');
    },
  });
  const answer = await broken.hooks.PreToolUse[0]?.hooks[0]?.({ ...use, tool_use_id: 'a' }, 'a', how);
  expect(answer).toMatchObject(denial);
  expect(JSON.stringify(answer)).not.toContain('rvk_secret');
  expect(await broken.canUseTool('Read', {}, how)).toMatchObject({ behavior: 'deny' });
  const { PreToolUse } = permissions(agent, { subagents: { reviewer: agent }, approvalWaitMs: 0 }).hooks;
  const before = PreToolUse[0]?.hooks[0];
  expect(await before?.({ ...use, tool_use_id: 'b', agent_type: 'constructor' }, 'b', how)).toEqual({});
  gateway.child.kill('SIGSTOP');
  try {
    const startedAt = performance.now();
    expect(await before?.({ ...use, tool_use_id: 'c' }, 'c', how)).toMatchObject(denial);
    expect((performance.now() - startedAt) / 1000).toBeLessThan(PreToolUse[0]?.timeout ?? 0);
  } finally {
    gateway.child.kill('SIGCONT');
  }
});

import { RunnableLambda } from '@langchain/core/runnables';
import { tool as chatTool } from '@langchain/core/tools';
import { Agent as OpenAiAgent, handoff, Runner, setTracingDisabled, tool as agentsTool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import type { Agent } from '@reeve/sdk';
import { permissions } from '@reeve/sdk/claude-agent';
import { asSubagent, govern as governChat } from '@reeve/sdk/langchain';
import { govern as governAgents, governModel } from '@reeve/sdk/openai-agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '../harness/eventually.ts';
import { AdapterWorld } from './adapter-world.ts';

const policy = `
name: subagents
default: allow
rules:
  - { name: no-wiping, effect: deny, tools: [wipe] }
`;

setTracingDisabled(true);
let world: AdapterWorld;
beforeAll(async () => {
  world = await AdapterWorld.start(policy);
});
afterAll(() => world[Symbol.asyncDispose]());

const parameters = z.object({});
const runner = new Runner({ tracingDisabled: true });

/** What agents were allowed and denied, by their ids. */
async function told(): Promise<string[]> {
  const entries = await world.entries();
  return entries
    .filter(({ event_type: type, op_id: id }) => /^Action(Allowed|Denied)$/.test(type) && id !== null)
    .map(({ lineage, decision, payload }) => `${lineage?.agent_id} ${decision} ${String(payload['resource'])}`);
}

async function mine(agent: Agent): Promise<string[]> {
  return (await told()).filter((line) => line.startsWith(agent.id.agentId));
}

async function delegatesOf(agent: Agent): Promise<readonly string[]> {
  const agents = await world.agents();
  return agents
    .filter(({ delegation }) => delegation?.by.agent_id === agent.id.agentId)
    .map(({ agent_id: id }) => id)
    .toSorted();
}

function toolNamed(name: string) {
  return agentsTool({ name, description: name, parameters, execute: () => `${name} done` });
}

test('whoever takes over a run by a handoff acts as a delegate with its own limits, until it has answered', async () => {
  const agent = await world.register('triage');
  const billingModel = new ScriptedModel([
    [functionCall('read', {}, { callId: 'a' })],
    [functionCall('send', {}, { callId: 'b' })],
    [assistantMessage('paid')],
  ]);
  // Governed before or not: whoever takes over runs its tools as the delegate.
  const tools = [...governAgents(agent, [toolNamed('read')]), toolNamed('send')];
  const billing = new OpenAiAgent({ name: 'Billing Desk', tools, model: billingModel });
  const handoffs = governAgents(agent, [handoff(billing)], { delegates: { 'Billing Desk': { tools: ['read'] } } });
  const model = new ScriptedModel([[functionCall('transfer_to_Billing_Desk', {}, { callId: 'c' })]]);
  const triage = new OpenAiAgent({ name: 'triage', handoffs, model });
  const result = await runner.run(triage, 'go');
  expect(result.finalOutput).toBe('paid');
  expect(await mine(agent)).toEqual([
    'triage allow transfer_to_Billing_Desk',
    'triage.Billing-Desk allow read',
    'triage.Billing-Desk deny send',
  ]);
  await eventually(async () => expect(await delegatesOf(agent)).toEqual([]));
  // What was given is as it was.
  expect(billing.tools).toEqual(tools);
});

test('a part that is handed on acts within all limits above, and ends with the whole', async () => {
  const agent = await world.register('front');
  const last = new ScriptedModel([
    [functionCall('read', {}, { callId: 'a' }), functionCall('send', {}, { callId: 'b' })],
    [assistantMessage('done')],
  ]);
  const inner = new OpenAiAgent({ name: 'inner', tools: [toolNamed('read'), toolNamed('send')], model: last });
  const limits = { delegates: { outer: { tools: ['read'] }, inner: {} } };
  const on = new ScriptedModel([[functionCall('transfer_to_inner', {}, { callId: 'c' })]]);
  const outer = new OpenAiAgent({ name: 'outer', handoffs: [handoff(inner)], model: on });
  const first = new ScriptedModel([[functionCall('transfer_to_outer', {}, { callId: 'd' })]]);
  const front = new OpenAiAgent({
    name: 'front',
    handoffs: governAgents(agent, [handoff(outer)], limits),
    model: first,
  });
  await runner.run(front, 'go');
  expect(await mine(agent)).toEqual([
    'front allow transfer_to_outer',
    'front.outer allow transfer_to_inner',
    'front.outer.inner allow read',
    'front.outer.inner deny send',
  ]);
  await eventually(async () => expect(await delegatesOf(agent)).toEqual([]));
});

test('whoever takes over from a delegate is checked and acts within its limits, with limits of its own or none', async () => {
  const agent = await world.register('desk');
  const last = new ScriptedModel([
    [functionCall('read', {}, { callId: 'a' }), functionCall('send', {}, { callId: 'b' })],
    [assistantMessage('done')],
  ]);
  const tools = governAgents(agent, ['read', 'send'].map(toolNamed));
  const plain = new OpenAiAgent({ name: 'plain', tools, model: last });
  const on = new ScriptedModel([[functionCall('transfer_to_plain', {}, { callId: 'c' })]]);
  const helper = new OpenAiAgent({ name: 'helper', handoffs: [plain], model: on });
  const first = new ScriptedModel([[functionCall('transfer_to_helper', {}, { callId: 'd' })]]);
  const handoffs = governAgents(agent, [handoff(helper)], { delegates: { helper: { tools: ['read'] } } });
  await runner.run(new OpenAiAgent({ name: 'desk', handoffs, model: first }), 'go');
  expect(await mine(agent)).toEqual([
    'desk allow transfer_to_helper',
    'desk.helper allow transfer_to_plain',
    'desk.helper.plain allow read',
    'desk.helper.plain deny send',
  ]);
  await eventually(async () => expect(await delegatesOf(agent)).toEqual([]));
});

test('a delegate that hands back to who started has done its part', async () => {
  const agent = await world.register('starter');
  const on = new ScriptedModel([[functionCall('transfer_to_starter', {}, { callId: 'a' })]]);
  const helper = new OpenAiAgent({ name: 'helper', model: on });
  const first = new ScriptedModel([
    [functionCall('transfer_to_helper', {}, { callId: 'b' })],
    [functionCall('send', {}, { callId: 'c' })],
    [assistantMessage('done')],
  ]);
  const handoffs = governAgents(agent, [handoff(helper)], { delegates: { helper: { tools: ['read'] } } });
  const tools = governAgents(agent, [toolNamed('send')]);
  const starter = new OpenAiAgent({ name: 'starter', tools, handoffs, model: first });
  helper.handoffs = [starter];
  await runner.run(starter, 'go');
  expect(await mine(agent)).toEqual([
    'starter allow transfer_to_helper',
    'starter.helper allow transfer_to_starter',
    'starter allow send',
  ]);
  expect(await delegatesOf(agent)).toEqual([]);
});

test('what the tools of a part call, and its model, act as the delegate', async () => {
  const agent = await world.register('chief');
  const read = governChat(
    agent,
    chatTool(() => 'read', { name: 'read', schema: parameters }),
  );
  const outer = agentsTool({ name: 'outer', description: 'x', parameters, execute: () => read.invoke({}) });
  const script = () => new ScriptedModel([[functionCall('outer', {}, { callId: 'a' })], [assistantMessage('done')]]);
  for (const stream of [false, true]) {
    const model = governModel(agent, script(), { model: 'small' });
    const helper = new OpenAiAgent({ name: 'helper', tools: [outer], model });
    const first = new ScriptedModel([[functionCall('transfer_to_helper', {}, { callId: 'b' })]]);
    const handoffs = governAgents(agent, [handoff(helper)], { delegates: { helper: {} } });
    const starter = new OpenAiAgent({ name: 'chief', handoffs, model: first });
    if (stream) await (await runner.run(starter, 'go', { stream })).completed;
    else await runner.run(starter, 'go');
    await eventually(async () => expect(await delegatesOf(agent)).toEqual([]));
  }
  const once = [
    'chief allow transfer_to_helper',
    ...['small', 'outer', 'read', 'small'].map((what) => `chief.helper allow ${what}`),
  ];
  expect(await mine(agent)).toEqual([...once, ...once]);
});

test('a part that cannot be governed leaves no delegate behind', async () => {
  const agent = await world.register('careful');
  const search = { type: 'hosted_tool', name: 'web_search', providerData: {} } as const;
  const helper = new OpenAiAgent({ name: 'helper', tools: [search] });
  const first = new ScriptedModel([[functionCall('transfer_to_helper', {}, { callId: 'a' })]]);
  const handoffs = governAgents(agent, [handoff(helper)], { delegates: { helper: {} } });
  const run = runner.run(new OpenAiAgent({ name: 'careful', handoffs, model: first }), 'go');
  await expect(run).rejects.toThrow('only functions can be governed');
  expect(await delegatesOf(agent)).toEqual([]);
});

test('what runs inside a tool that is a sub-agent acts as its delegate, at any depth and side by side, and no longer', async () => {
  const agent = await world.register('lead');
  const [read, wipe] = governChat(
    agent,
    ['read', 'wipe'].map((name) => chatTool(() => name, { name, schema: parameters })),
  );
  const deeper = governChat(
    agent,
    chatTool(async () => [await read?.invoke({}), await send?.invoke({})].join(), {
      name: 'deeper',
      schema: parameters,
    }),
    { delegates: { deeper: { maxChecks: 1 } } },
  );
  const send = governChat(
    agent,
    chatTool(() => 'sent', { name: 'send', schema: parameters }),
  );
  const research = governChat(
    agent,
    chatTool(async () => [await deeper.invoke({}), await wipe?.invoke({}), await read?.invoke({})].join(), {
      name: 'research',
      schema: parameters,
    }),
    { delegates: { research: { tools: ['read', 'send'] } } },
  );
  await research.invoke({});
  await send.invoke({});
  expect(await mine(agent)).toEqual([
    'lead allow research',
    'lead.research allow deeper',
    'lead.research.deeper allow read',
    'lead.research.deeper deny send',
    'lead.research deny wipe',
    'lead.research allow read',
    'lead allow send',
  ]);
  expect(await delegatesOf(agent)).toEqual([]);
  // Of two at once each has limits of its own, and the first to end leaves the other at work.
  await Promise.all([research.invoke({}), research.invoke({})]);
  const reads = (await mine(agent)).filter((line) => /^lead\.research(-2)? allow read$/.test(line));
  expect(reads.toSorted()).toEqual(
    [...Array.from({ length: 2 }, () => 'lead.research allow read'), 'lead.research-2 allow read'].toSorted(),
  );
});

test('a subgraph acts as a delegate while it runs', async () => {
  const agent = await world.register('graph');
  const tools = governChat(
    agent,
    ['read', 'send'].map((name) => chatTool(() => name, { name, schema: parameters })),
  );
  // The part of a compiled graph that matters here: what it runs is invoked within.
  const subgraph = RunnableLambda.from(async () => [await tools[0]?.invoke({}), await tools[1]?.invoke({})]);
  const node = (state: object) => asSubagent(agent, 'sub graph', { tools: ['read'] }, () => subgraph.invoke(state));
  const parent = RunnableLambda.from(node).pipe(RunnableLambda.from(async () => tools[1]?.invoke({})));
  await parent.invoke({});
  expect(await mine(agent)).toEqual(['graph.sub-graph allow read', 'graph.sub-graph deny send', 'graph allow send']);
  expect(await delegatesOf(agent)).toEqual([]);
});

test('inside a sub-agent, an agent that acts for a user still does', async () => {
  const agent = await world.register('clerk');
  const forAnn = agent.onBehalfOf('no.such.issuer');
  const read = governChat(
    forAnn,
    chatTool(() => 'read', { name: 'read', schema: parameters }),
  );
  const spawn = governChat(
    agent,
    chatTool(() => read.invoke({}), { name: 'spawn', schema: parameters }),
    {
      delegates: { spawn: {} },
    },
  );
  // No issuer of users is known here, so a check that carries the token is denied.
  expect(await spawn.invoke({})).toContain('subject token');
});

test('a sub-agent of an agent that acts for a user acts for that user', async () => {
  const agent = await world.register('envoy');
  const forAnn = agent.onBehalfOf('no.such.issuer');
  const answer = await asSubagent(forAnn, 'spawned', {}, (delegate) =>
    delegate.decision({ type: 'tool_call', tool: 'x' }),
  );
  expect(answer.reason).toContain('subject token');
  const { hooks } = permissions(forAnn, { subagents: { reviewer: {} }, approvalWaitMs: 0 });
  const how = { signal: new AbortController().signal };
  const input = { hook_event_name: 'PreToolUse', tool_name: 'mcp__x__read', tool_use_id: 'u', tool_input: {} };
  const said = await hooks.PreToolUse[0]?.hooks[0]?.({ ...input, agent_type: 'reviewer', agent_id: 'r' }, 'u', how);
  expect(said?.hookSpecificOutput?.permissionDecisionReason).toContain('subject token');
  await hooks.SessionEnd[0]?.hooks[0]?.({ hook_event_name: 'SessionEnd' }, undefined, how);
});

test('sub-agents of one name that work for two users at once do not end each other', async () => {
  const agent = await world.register('desk-of-two');
  const two = Promise.withResolvers<readonly string[]>();
  const works = ['ann', 'bob'].map((user) =>
    asSubagent(agent.onBehalfOf(user), 'spawned', {}, async () => {
      const there = await delegatesOf(agent);
      if (there.length === 2) two.resolve(there);
      await two.promise;
    }),
  );
  expect(await two.promise).toEqual(['desk-of-two.spawned', 'desk-of-two.spawned-2']);
  await Promise.all(works);
  expect(await delegatesOf(agent)).toEqual([]);
});

test('a sub-agent of Claude Code acts as a delegate until it stops', async () => {
  const agent = await world.register('coder');
  const { hooks } = permissions(agent, { subagents: { reviewer: { tools: ['read'] } }, approvalWaitMs: 0 });
  const before = hooks.PreToolUse[0]?.hooks[0];
  const how = { signal: new AbortController().signal };
  const use = (tool: string, id: string, of: object) =>
    before?.(
      { hook_event_name: 'PreToolUse', session_id: 's', tool_name: tool, tool_use_id: id, tool_input: {}, ...of },
      id,
      how,
    );
  const reviewer = { agent_type: 'reviewer', agent_id: 'r-1' };
  expect(await use('mcp__x__read', 'a', reviewer)).toEqual({});
  expect(await use('mcp__x__write', 'b', reviewer)).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
  expect(await use('mcp__x__write', 'c', {})).toEqual({});
  expect(await delegatesOf(agent)).toEqual(['coder.reviewer']);
  const stop = hooks.SubagentStop[0]?.hooks[0];
  expect(await stop?.({ hook_event_name: 'SubagentStop', ...reviewer }, undefined, how)).toEqual({});
  expect(await delegatesOf(agent)).toEqual([]);
  // It may be resumed.
  expect(await use('mcp__x__read', 'd', reviewer)).toEqual({});
  await hooks.SessionEnd[0]?.hooks[0]?.({ hook_event_name: 'SessionEnd' }, undefined, how);
  expect(await delegatesOf(agent)).toEqual([]);
  const answers = (await mine(agent)).map((line) => line.split(' ').slice(0, 2).join(' '));
  expect(answers).toEqual(['coder.reviewer allow', 'coder.reviewer deny', 'coder allow', 'coder.reviewer allow']);
});

test('a sub-agent of Claude Code is asked about as itself also where the tool is governed elsewhere, and never without an id', async () => {
  const agent = await world.register('builder');
  const limits = { governed: ['db'], subagents: { reviewer: { tools: ['read'] } }, approvalWaitMs: 0 };
  const { hooks, canUseTool } = permissions(agent, limits);
  const how = { signal: new AbortController().signal };
  const use = (tool: string, id: string, of: object) => {
    const input = { hook_event_name: 'PreToolUse', tool_name: tool, tool_use_id: id, tool_input: {}, ...of };
    return hooks.PreToolUse[0]?.hooks[0]?.(input, id, how);
  };
  const denial = { hookSpecificOutput: { permissionDecision: 'deny' } };
  const reviewer = { agent_type: 'reviewer', agent_id: 'r-1' };
  expect(await use('mcp__db__drop', 'a', reviewer)).toMatchObject(denial);
  expect(await use('mcp__db__drop', 'b', {})).toEqual({});
  expect(await use('mcp__db__drop', 'c', { agent_type: 'general', agent_id: 'g-1' })).toEqual({});
  expect(await use('mcp__x__read', 'd', { agent_type: 'reviewer' })).toMatchObject(denial);
  // One id with two types is two sub-agents.
  expect(await use('mcp__x__write', 'e', { agent_type: 'general', agent_id: 'r-1' })).toEqual({});
  expect(await use('mcp__x__write', 'f', reviewer)).toMatchObject(denial);
  // What no hook was asked about is asked about as whoever the hooks told of, and refused if they told of nobody.
  const behavior = async (tool: string, id: string, agentID?: string) =>
    (await canUseTool(tool, {}, { ...how, toolUseID: id, ...(agentID === undefined ? {} : { agentID }) })).behavior;
  expect(await behavior('mcp__db__drop', 'g', 'r-1')).toBe('deny');
  expect(await behavior('mcp__x__write', 'h', 'r-1')).toBe('deny');
  expect(await behavior('mcp__x__read', 'i', 'r-1')).toBe('allow');
  expect(await behavior('mcp__x__read', 'j', 'unheard-of')).toBe('deny');
  expect(await behavior('mcp__db__drop', 'k', 'g-1')).toBe('allow');
  expect(await behavior('mcp__x__write', 'l')).toBe('allow');
  await hooks.SessionEnd[0]?.hooks[0]?.({ hook_event_name: 'SessionEnd' }, undefined, how);
  expect(await delegatesOf(agent)).toEqual([]);
});

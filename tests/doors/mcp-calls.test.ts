import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { McpWorld } from './mcp-world.ts';
import type { RawMcpClient, ToolResult } from './raw-mcp-client.ts';

let world: McpWorld;
let client: RawMcpClient;

beforeAll(async () => {
  world = await McpWorld.start();
  client = await world.run(['--approval-wait', '3', '--run', 'the-run']);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(() => rmSync(world.heardFile, { force: true }));

const textOf = ({ content }: ToolResult) => content[0]?.text ?? '';

async function lastOutcome(): Promise<unknown> {
  return world.outcomes().at(-1);
}

describe('a call of a tool', () => {
  it('reaches the server if it is allowed, and is completed', async () => {
    const result = await client.call('echo', { q: 'refunds' });
    expect(textOf(result)).toBe('{"q":"refunds"}');
    await eventually(async () => expect(await lastOutcome()).toBe('succeeded'));
    const { payload, decision } = world.decisions().at(-1) ?? {};
    expect(decision).toBe('allow');
    expect(payload).toMatchObject({
      action: { type: 'tool_call', tool: 'echo', source: 'scripted', args: { q: 'refunds' } },
      run_id: 'the-run',
    });
  });

  it.each(['fail', 'error'])('counts as failed if the server says so: %s', async (tool) => {
    const { result, error } = await client.ask('tools/call', { name: tool });
    expect(result?.isError ?? error?.code).toBe(tool === 'fail' ? true : -32_050);
    await eventually(async () => expect(await lastOutcome()).toBe('failed'));
  });

  it.each([
    ['wipe', {}, 'test/no-wiping'],
    ['echo', { path: '/etc/shadow' }, 'test/no-secrets'],
  ])('does not reach the server if it is denied: %s %j', async (tool, args, rule) => {
    const result = await client.call(tool, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Denied by policy: denied by rule test/);
    const note = result._meta?.['reeve.dev/decision'];
    expect(note).toMatchObject({ decision: 'deny', policy_rule: rule });
    expect(textOf(result)).toContain(note?.['reason']);
    expect(note?.['op_id']).toBe(world.decisions().at(-1)?.op_id);
    expect(world.heardCalls()).toEqual([]);
  });

  it('is no call without the name of a tool, or without an id', async () => {
    const { error } = await client.ask('tools/call', { name: 7 });
    expect(error?.code).toBe(-32_602);
    client.send({ method: 'tools/call', params: { name: 'echo' } });
    await client.ask('ping');
    expect(world.heardCalls()).toEqual([]);
  });

  it('is the one that was checked, even if a message says two things', async () => {
    client.write('{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"wipe","name":"echo"}}');
    await client.answer('twice');
    client.write('{"jsonrpc":"2.0","id":"twice2","method":"tools/call","method":"ping"}');
    await client.answer('twice2');
    expect(world.heard().map(({ method, params }) => [method, params?.['name']])).toEqual([
      ['tools/call', 'echo'],
      ['ping', undefined],
    ]);
  });
});

describe('a call that needs an approval', () => {
  it('waits with ever higher progress, and happens once it is approved', async () => {
    const params = { name: 'steps', _meta: { progressToken: 'steps-1' } };
    const id = client.start('tools/call', params);
    const approval = await world.approval();
    const before = world.heardCalls();
    await world.decide(approval, 'approve');
    const { result } = await client.answer(id);
    expect(before).toEqual([]);
    expect(result?.content[0]?.text).toBe('done');
    const reports = client.messages.filter(({ params: each }) => each?.['progressToken'] === 'steps-1');
    const values = reports.map(({ params: each }) => Number(each?.['progress']));
    expect(values).toHaveLength(4);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    expect(reports[0]?.params?.['message']).toContain(approval);
    expect(reports.at(-1)?.params?.['total']).toBe(values.at(-1));
  });

  it('is denied if a person rejects it', async () => {
    const id = client.start('tools/call', { name: 'steps' });
    await world.decide(await world.approval(), 'reject');
    const { result } = await client.answer(id);
    expect(result?.content[0]?.text).toMatch(/^Denied by policy: .*because/);
    expect(result?._meta?.['reeve.dev/decision']).toMatchObject({ decision: 'deny', policy_rule: 'test/ask' });
    expect(world.heardCalls()).toEqual([]);
  });

  it('is called off if nobody decides in time', async () => {
    const id = client.start('tools/call', { name: 'steps' });
    const approval = await world.approval();
    const { result } = await client.answer(id);
    expect(result?.content[0]?.text).toMatch(new RegExp(`^Waiting for approval ${approval}`));
    expect(result?._meta?.['reeve.dev/decision']).toMatchObject({ decision: 'pending', policy_rule: 'test/ask' });
    expect(world.heardCalls()).toEqual([]);
    await eventually(async () => {
      const { body } = await world.gateway.api.get<{ items: unknown[] }>('/api/v1/approvals', bootstrapKey);
      expect(body.items).toEqual([]);
    });
  });

  it('ends with the client’s cancellation', async () => {
    const id = client.start('tools/call', { name: 'steps' });
    await world.approval();
    client.send({ method: 'notifications/cancelled', params: { requestId: id } });
    await eventually(async () => {
      const { body } = await world.gateway.api.get<{ items: unknown[] }>('/api/v1/approvals', bootstrapKey);
      expect(body.items).toEqual([]);
    });
    expect(client.messages.some((message) => message.id === id && message.method === undefined)).toBe(false);
  });
});

describe('a call under way', () => {
  it('is stopped by an operator, at the server as well', async () => {
    const id = client.start('tools/call', { name: 'slow' });
    const { op_id: opId } = await world.op();
    await eventually(() => expect(world.heardCalls()).toEqual(['slow']));
    const { id: control } = await world.control('terminate', opId);
    const { result } = await client.answer(id);
    expect(result?.isError).toBe(true);
    expect(result?.content[0]?.text).toMatch(/^Stopped.*enough/);
    const cancelled = world.heard().filter(({ method }) => method === 'notifications/cancelled');
    expect(cancelled.map(({ params }) => params?.['requestId'])).toEqual([id]);
    await eventually(async () => expect(await world.receipt(control)).toBe('effective'));
  });

  it('keeps its result while it is paused', async () => {
    const id = client.start('tools/call', { name: 'slow' });
    const { op_id: opId } = await world.op();
    await eventually(() => expect(world.heardCalls()).toEqual(['slow']));
    await world.control('pause', opId);
    await client.ask('x/finish');
    await client.ask('ping');
    expect(client.messages.some((message) => message.id === id && message.method === undefined)).toBe(false);
    await world.control('resume', opId);
    expect((await client.answer(id)).result?.content[0]?.text).toBe('finished');
    await eventually(async () => expect(await lastOutcome()).toBe('succeeded'));
  });

  it('is cancelled by the client, at the server as well', async () => {
    const id = client.start('tools/call', { name: 'slow' });
    await eventually(() => expect(world.heardCalls()).toEqual(['slow']));
    client.send({ method: 'notifications/cancelled', params: { requestId: id, reason: 'changed my mind' } });
    await eventually(async () => expect(await lastOutcome()).toBe('cancelled'));
    // The server is told at the same time as the gateway, and may hear it later.
    await eventually(() => {
      const told = world.heard().filter(({ method }) => method === 'notifications/cancelled');
      expect(told.map(({ params }) => params?.['reason'])).toContain('changed my mind');
    });
  });

  it('does not stop others of a suspended agent from being denied', async () => {
    const path = '/api/v1/agents/acme/core/bot';
    await world.gateway.api.post(`${path}/suspend`, bootstrapKey, { reason: 'look' });
    const result = await client.call('echo', {});
    await world.gateway.api.post(`${path}/resume`, bootstrapKey, { reason: 'fine' });
    expect(textOf(result)).toBe('Denied by policy: agent is suspended');
    expect(textOf(await client.call('echo', {}))).toBe('{}');
  });
});

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll } from '../harness/gateway.ts';
import { McpWorld } from './mcp-world.ts';

// A lock holds without anybody who says that something has changed.

let world: McpWorld;
beforeEach(async () => {
  world = await McpWorld.start(allowAll);
});
afterEach(() => world[Symbol.asyncDispose]());

const changedText = 'Denied by policy: tool definition changed since it was locked';

const changes = () =>
  world.gateway
    .audit()
    .filter(({ event_type: type }) => type === 'ToolDefinitionChanged')
    .flatMap(({ payload }) => payload['changed'] as { tool_name: string; locked_sha256: string }[]);

it.each([true, false])('holds a server to it that says nothing of the change; the client lists: %s', async (lists) => {
  const lock = join(world.folder, `silent-${lists}.lock`);
  await using client = await world.run(['--lock', lock, '--write-lock']);
  expect((await client.call('echo')).content[0]?.text).toBe('{}');
  await client.call('change', { silently: true });
  if (lists) {
    const { result } = await client.ask('tools/list');
    expect(result?.tools?.map(({ name }) => name)).not.toContain('echo');
  }
  expect((await client.call('echo')).content[0]?.text).toBe(changedText);
  expect(world.heardCalls()).toEqual(['echo', 'change']);
  await eventually(() => expect(changes()).toMatchObject([{ tool_name: 'echo' }]));
});

it('compares again what was held for an approval, and reports that nothing was done', async () => {
  await world[Symbol.asyncDispose]();
  world = await McpWorld.start(`
name: test
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [echo] }
`);
  const lock = join(world.folder, 'held.lock');
  await using client = await world.run(['--lock', lock, '--write-lock']);
  const held = client.start('tools/call', { name: 'echo' });
  const approval = await world.approval();
  await client.call('change', { silently: true });
  await world.decide(approval, 'approve');
  expect((await client.answer(held)).result?.content[0]?.text).toBe(changedText);
  expect(world.heardCalls()).toEqual(['change']);
  await eventually(() => expect(world.outcomes()).toEqual(['succeeded', 'cancelled']));
});

it('asks a server for its tools once for each call, however many calls wait for it', async () => {
  const lock = join(world.folder, 'once.lock');
  await using client = await world.run(['--lock', lock, '--write-lock']);
  expect((await client.call('echo')).content[0]?.text).toBe('{}');
  const lists = () =>
    world.heard().filter(({ method, params }) => method === 'tools/list' && params?.['cursor'] === undefined);
  const before = lists().length;
  const calls = Array.from({ length: 50 }, () => client.start('tools/call', { name: 'echo' }));
  for (const call of calls) expect((await client.answer(call)).result?.isError).toBeUndefined();
  expect(lists().length - before).toBeLessThanOrEqual(50);
  expect(lists().length - before).toBeGreaterThan(0);
});

it('tells of calls of tools that are neither in the lock nor in the list', async () => {
  const lock = join(world.folder, 'hidden.lock');
  await using client = await world.run(['--lock', lock, '--write-lock']);
  expect((await client.call('hidden')).content[0]?.text).toBe(changedText);
  await eventually(() =>
    expect(changes().findLast(({ tool_name }) => tool_name === 'hidden')).toMatchObject({ locked_sha256: '' }),
  );
});

it('sees that a lock is written again, or gone, while it runs', async () => {
  const lock = join(world.folder, 'again.lock');
  await using client = await world.run(['--lock', lock, '--write-lock']);
  const written = readFileSync(lock, 'utf8');
  const { servers } = JSON.parse(written) as { servers: { scripted: Record<string, string> } };
  const { echo: _, ...rest } = servers.scripted;
  const said = (text: string) =>
    eventually(async () => expect((await client.call('echo')).content[0]?.text).toBe(text), 200);
  writeFileSync(lock, JSON.stringify({ version: 1, servers: { scripted: rest } }));
  await said(changedText);
  writeFileSync(lock, written);
  await said('{}');
  writeFileSync(lock, JSON.stringify({ version: 1, servers: { scripted: rest } }));
  await said(changedText);
  rmSync(lock);
  await eventually(() => expect(client.stderr).toContain('is gone; what it said still counts'));
  await said(changedText);
});

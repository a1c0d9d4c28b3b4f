import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll } from '../harness/gateway.ts';
import { McpWorld, scripted } from './mcp-world.ts';
import type { RawMcpClient } from './raw-mcp-client.ts';

let world: McpWorld;
beforeAll(async () => {
  world = await McpWorld.start(allowAll);
});
afterAll(() => world[Symbol.asyncDispose]());

const changedText = 'Denied by policy: tool definition changed since it was locked';

async function listed(client: RawMcpClient): Promise<string[]> {
  const first = await client.ask('tools/list');
  const second = await client.ask('tools/list', { cursor: first.result?.nextCursor });
  return [first, second].flatMap(({ result }) => result?.tools?.map(({ name }) => name) ?? []);
}

it('writes a lock, and holds a server to it that changes a tool while it runs', async () => {
  const lock = join(world.folder, 'mcp.lock');
  await using client = await world.run(['--lock', lock, '--write-lock']);
  const { servers } = JSON.parse(readFileSync(lock, 'utf8')) as { servers: { scripted: Record<string, string> } };
  expect(Object.keys(servers.scripted)).toHaveLength(12);
  expect((await client.call('echo')).content[0]?.text).toBe('{}');
  expect(await listed(client)).toHaveLength(12);

  await client.call('change');
  const { content, isError, _meta } = await client.call('echo');
  expect([isError, content[0]?.text]).toEqual([true, changedText]);
  expect(_meta?.['reeve.dev/decision']).toMatchObject({ decision: 'deny' });
  expect(await listed(client)).not.toContain('echo');
  expect((await client.call('env')).isError).toBeUndefined();
  await eventually(() => {
    const entries = world.gateway.audit().filter(({ event_type: type }) => type === 'ToolDefinitionChanged');
    expect(entries).toHaveLength(1);
    expect(JSON.stringify(entries[0])).toContain(servers.scripted['echo']);
  });
});

it('notices at the start what changed in between, without a client that lists, until the lock is written again', async () => {
  const lock = join(world.folder, 'other.lock');
  const first = await world.run(['--lock', lock, '--write-lock']);
  await first.leave();
  writeFileSync(`${world.heardFile}.changed`, '');
  const second = await world.run(['--lock', lock]);
  expect((await second.call('echo')).content[0]?.text).toBe(changedText);
  expect((await second.call('env')).isError).toBeUndefined();
  expect(world.heardCalls().filter((name) => name === 'echo')).toHaveLength(1);
  await second.leave();
  await using third = await world.run(['--lock', lock, '--write-lock']);
  expect((await third.call('echo')).content[0]?.text).toBe('{}');
});

it('denies tools that the lock does not name, and starts with no lock that is missing or broken', async () => {
  const lock = join(world.folder, 'empty.lock');
  writeFileSync(lock, '{"version":1,"servers":{}}');
  await using client = await world.run(['--lock', lock]);
  expect((await client.call('echo')).content[0]?.text).toBe(changedText);
  expect(await listed(client)).toEqual([]);
  using home = new TestHome();
  const run = async (file: string) => {
    const args = ['mcp', 'run', '--server', 'x', '--lock', file, '--', ...scripted];
    const { code, stderr } = await home.run(args, { env: world.env });
    return `${code} ${stderr}`;
  };
  expect(await run(join(world.folder, 'none.lock'))).toMatch(
    /^2 error: there is no file .*none\.lock; --write-lock writes it\n$/,
  );
  writeFileSync(lock, '{"version":1,"servers":{"x":{"echo":"abc"}}}');
  expect(await run(lock)).toMatch(/^2 error: .*empty\.lock has something else than the SHA-256/);
});

it('locks all servers of a file', async () => {
  using home = new TestHome();
  const [command, ...args] = scripted;
  const config = join(world.folder, 'mcp.yaml');
  writeFileSync(config, JSON.stringify({ servers: { one: { command, args }, two: { command, args: [...args] } } }));
  const { servers } = await home.json<{ servers: unknown }>(['mcp', 'lock', '--config', config]);
  expect(servers).toEqual({ one: { tools: 12 }, two: { tools: 12 } });
  expect(existsSync(`${config}.lock`)).toBe(true);

  writeFileSync(config, 'servers: {one: {command: "${NO_SUCH_VARIABLE}"}}\n');
  const { code, stderr } = await home.run(['mcp', 'lock', '--config', config]);
  expect([code, stderr]).toEqual([
    2,
    `error: ${config}: servers.one.command needs the environment variable NO_SUCH_VARIABLE, which is not set\n`,
  ]);
});

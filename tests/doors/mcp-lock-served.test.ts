import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';

let world: McpWorld;
let upstream: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(allowAll);
  upstream = startServer('modern');
  const args = [resolve('tests/doors/servers/modern.mjs'), '--stdio'];
  const servers = { command: { command: process.execPath, args }, url: { url: await upstream.address() } };
  const config = join(world.folder, 'mcp.yaml');
  writeFileSync(config, JSON.stringify({ servers }));
  using home = new TestHome();
  expect((await home.run(['mcp', 'lock', '--config', config])).code).toBe(0);
  // As if somebody had locked another definition of one tool, and none of another one.
  const lock = JSON.parse(readFileSync(`${config}.lock`, 'utf8')) as {
    servers: Record<string, Record<string, string>>;
  };
  for (const tools of Object.values(lock.servers)) {
    tools['wipe'] = '0'.repeat(64);
    delete tools['steps'];
  }
  writeFileSync(`${config}.lock`, JSON.stringify(lock));
  proxy = serveServers(world, servers);
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

describe.each([
  ['command', { pin: '2026-07-28' }],
  ['url', { pin: '2026-07-28' }],
  ['command', 'legacy' as const],
  ['url', 'legacy' as const],
])('a served server by %s, with a lock, in mode %j', (behind, mode) => {
  it('is held to it', async () => {
    const client = new Client({ name: 'official', version: '2' }, { versionNegotiation: { mode } });
    const headers = { authorization: `Bearer ${world.agent.token}` };
    const url = new URL(`${await proxy.address()}/mcp/${behind}`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    const call = async (name: string) => {
      const { content } = await client.callTool({ name, arguments: { name: 'Ada' } });
      return (content[0] as { text: string }).text;
    };
    const changed = 'Denied by policy: tool definition changed since it was locked';
    expect([await call('wipe'), await call('steps'), await call('greet')]).toEqual([changed, changed, 'Hello Ada']);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['greet', 'route', 'deploy', 'slow', 'change']);
    const lock = join(world.folder, 'mcp.yaml.lock');
    const before = readFileSync(lock, 'utf8');
    const { servers, ...others } = JSON.parse(before) as { servers: Record<string, Record<string, string>> };
    const { greet: _, ...without } = servers[behind] ?? {};
    writeFileSync(lock, JSON.stringify({ ...others, servers: { ...servers, [behind]: without } }));
    await eventually(async () => expect(await call('greet')).toBe(changed), 200);
    writeFileSync(lock, before);
    await eventually(async () => expect(await call('greet')).toBe('Hello Ada'), 200);
    await client.close();
  });
});

import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startScript } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';

/** Calls a tool during which the server closes the stream, and lets the client come back for the answer. */
let world: McpWorld;
let upstream: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(allowAll);
  upstream = startScript(resolve('tests/conformance/mcp/reference-server.mjs'));
  proxy = serveServers(world, { reference: { url: await upstream.address() } });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

it('gives the answer on the first stream that asks for what is missing', async () => {
  const url = `${await proxy.address()}/mcp/reference`;
  const common = { authorization: `Bearer ${world.agent.token}`, 'mcp-protocol-version': '2025-11-25' };
  const accept = 'application/json, text/event-stream';
  const post = (body: object, more: Readonly<Record<string, string>> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...common, accept, 'content-type': 'application/json', ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const clientInfo = { name: 'bare', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const hello = await post({ id: 0, method: 'initialize', params });
  const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
  await hello.text();
  await post({ method: 'notifications/initialized' }, session);
  for (let id = 1; id <= 5; id++) {
    const called = await post({ id, method: 'tools/call', params: { name: 'test_reconnection' } }, session);
    const first = await called.text();
    expect(first).not.toContain('after the reconnection');
    const lastId = [...first.matchAll(/^id: ?(.+)$/gm)].at(-1)?.[1] ?? '';
    const headers = { ...common, ...session, accept: 'text/event-stream', 'last-event-id': lastId };
    const resumed = await fetch(url, { headers });
    let read = '';
    // A server may keep the stream open after it has repeated everything.
    for await (const chunk of resumed.body ?? []) {
      read += Buffer.from(chunk).toString();
      if (read.includes('after the reconnection')) break;
    }
    expect(read).toContain('after the reconnection');
  }
});

it.each(['http', 'stdio'])('resumes a stream that the server closed, with the client over %s', async (front) => {
  const client = new Client({ name: 'official', version: '1' });
  const authorization = `Bearer ${world.agent.token}`;
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const transport =
    front === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${await proxy.address()}/mcp/reference`), {
          requestInit: { headers: { authorization } },
        })
      : new StdioClientTransport({
          command: resolve('node_modules/.bin/reeve'),
          args: ['mcp', 'run', '--server', 'reference', '--url', await upstream.address()],
          env: { ...Object.fromEntries(inherited), ...world.env },
        });
  await client.connect(transport);
  const before = world.outcomes().length;
  const { content } = await client.callTool({ name: 'test_reconnection' });
  expect(content).toEqual([{ type: 'text', text: 'after the reconnection' }]);
  await eventually(() => expect(world.outcomes().slice(before)).toEqual(['succeeded']));
  await client.close();
});

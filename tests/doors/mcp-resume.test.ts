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

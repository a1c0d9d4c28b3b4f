import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startScript, startServer } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld, scripted } from './mcp-world.ts';

type Ops = RouteOutput<Routes['listOps']>;

let world: McpWorld;
let everything: Listening;
let reference: Listening;
let keyFile: string;
let replicas: Listening[];
let addresses: string[];

beforeAll(async () => {
  world = await McpWorld.start();
  everything = startServer('everything-http');
  reference = startScript(resolve('tests/conformance/mcp/reference-server.mjs'));
  keyFile = join(world.folder, 'session.key');
  writeFileSync(keyFile, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
});
beforeEach(async () => {
  replicas = [await replica(keyFile), await replica(keyFile)];
  addresses = await Promise.all(replicas.map((each) => each.address()));
});
afterEach(async () => {
  for (const each of replicas) await each[Symbol.asyncDispose]();
});
afterAll(async () => {
  await everything[Symbol.asyncDispose]();
  await reference[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function replica(file: string): Promise<Listening> {
  const [command, ...args] = scripted;
  const servers = {
    scripted: { command, args, env: { HEARD_FILE: world.heardFile } },
    everything: { url: await everything.address() },
    reference: { url: await reference.address() },
  };
  return serveServers(world, servers, ['--session-key-file', file]);
}

/** Sends each request to the next replica that is alive. */
function roundRobin(): { readonly fetch: typeof fetch; readonly visits: number[] } {
  const visits = addresses.map(() => 0);
  let last = 0;
  const alive = (at: number) => replicas[at]?.child.signalCode === null;
  const send: typeof fetch = (input, init) => {
    const at = addresses.map((_, index) => (last + 1 + index) % addresses.length).find(alive) ?? 0;
    last = at;
    visits[at] = (visits[at] ?? 0) + 1;
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    return fetch(`${addresses[at]}${pathname}`, init);
  };
  return { fetch: send, visits };
}

test.each(['scripted', 'everything'])(
  'a session with %s goes on at any replica, and after one was killed',
  async (server) => {
    const balanced = roundRobin();
    const transport = new StreamableHTTPClientTransport(new URL(`${addresses[0]}/mcp/${server}`), {
      requestInit: { headers: { authorization: `Bearer ${world.agent.token}` } },
      fetch: balanced.fetch,
    });
    const client = new Client({ name: 'balanced', version: '1' });
    await client.connect(transport);
    const session = transport.sessionId;
    const { body: earlier } = await world.gateway.api.get<Ops>('/api/v1/ops?per_page=1000', bootstrapKey);
    const known = new Set(earlier.items.map(({ op_id: id }) => id));
    const echo = async (n: number) => {
      const { content } = await client.callTool({ name: 'echo', arguments: { message: `hello ${n}` } });
      expect(JSON.stringify(content)).toContain(`hello ${n}`);
    };
    for (let n = 1; n <= 4; n++) await echo(n);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(balanced.visits.every((count) => count >= 2)).toBe(true);
    await replicas[0]?.end('SIGKILL');
    for (let n = 5; n <= 8; n++) await echo(n);
    expect(transport.sessionId).toBe(session);
    // All of it is one run.
    const { body } = await world.gateway.api.get<Ops>('/api/v1/ops?per_page=1000', bootstrapKey);
    const runs = new Set(body.items.filter(({ op_id: id }) => !known.has(id)).map(({ run_id: run }) => run));
    expect([...runs]).toEqual([expect.stringMatching(/^mcp-/)]);
    await client.close();
  },
  120_000,
);

test('an id opens nothing for others, elsewhere, changed, or at replicas with another key', async () => {
  const [first = '', second = ''] = addresses;
  const opened = new McpVisitor(first, 'scripted');
  await opened.open(world.agent.token);
  const status = async (base: string, server: string, token: string, session: string) => {
    const visitor = new McpVisitor(base, server);
    visitor.session = session;
    return (await visitor.call(token)).status;
  };
  const id = opened.session ?? '';
  expect(await status(second, 'scripted', world.agent.token, id)).toBe(200);
  const other = await world.gateway.register({ agentId: 'other' });
  for (const base of addresses) {
    expect(await status(base, 'scripted', other.token, id)).toBe(404);
    expect(await status(base, 'everything', world.agent.token, id)).toBe(404);
    expect(await status(base, 'scripted', world.agent.token, `${id.slice(0, -2)}AA`)).toBe(404);
    expect(await status(base, 'scripted', world.agent.token, 'A'.repeat(20_000))).toBe(404);
  }
  const otherKey = join(world.folder, 'other.key');
  writeFileSync(otherKey, randomBytes(32).toString('base64url'), { mode: 0o600 });
  await using stranger = await replica(otherKey);
  expect(await status(await stranger.address(), 'scripted', world.agent.token, id)).toBe(404);
}, 120_000);

test('a session that the client ends has ended: here at once, elsewhere as the server says', async () => {
  const [first = '', second = ''] = addresses;
  const visitor = new McpVisitor(first, 'everything');
  await visitor.open(world.agent.token);
  const there = new McpVisitor(second, 'everything');
  there.session = visitor.session;
  expect((await there.call(world.agent.token, {}, { message: 'x' })).status).toBe(200);
  const headers = { authorization: `Bearer ${world.agent.token}`, 'mcp-session-id': visitor.session ?? '' };
  expect((await fetch(visitor.url, { method: 'DELETE', headers })).status).toBe(204);
  expect((await visitor.call(world.agent.token)).status).toBe(404);
  await eventually(async () => expect((await there.call(world.agent.token)).status).toBe(404));
}, 120_000);

test('an answer is given again only where the call was made: others do not know whether it is held back', async () => {
  const [first = '', second = ''] = addresses;
  const visitor = new McpVisitor(first, 'reference');
  await visitor.open(world.agent.token, { 'mcp-protocol-version': '2025-11-25' });
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'test_reconnection' } };
  const called = await visitor.send(call, world.agent.token, { 'mcp-protocol-version': '2025-11-25' });
  const lastId = [...(await called.text()).matchAll(/^id: ?(.+)$/gm)].at(-1)?.[1] ?? '';
  expect(lastId).not.toBe('');
  const resumedOnce = async (base: string) => {
    const { body } = await fetch(`${base}/mcp/reference`, {
      headers: {
        authorization: `Bearer ${world.agent.token}`,
        accept: 'text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        'mcp-session-id': visitor.session ?? '',
        'last-event-id': lastId,
      },
    });
    let read = '';
    for await (const chunk of body ?? []) {
      read += Buffer.from(chunk).toString();
      if (/"id":7\b/.test(read)) return read;
    }
    throw new Error(`the stream ended without the answer: ${read}`);
  };
  // A stream may end before the answer is there. Clients then resume it again.
  const resumed = (base: string) => eventually(() => resumedOnce(base));
  expect(await resumed(second)).toContain('only where the call was made');
  // An id that is used again there does not make it an answer of that replica.
  const there = new McpVisitor(second, 'reference');
  there.session = visitor.session;
  await (await there.send({ ...call, params: { name: 'test_simple_text' } }, world.agent.token)).text();
  expect(await resumed(second)).not.toContain('after the reconnection');
  expect(await resumed(first)).toContain('after the reconnection');
}, 120_000);

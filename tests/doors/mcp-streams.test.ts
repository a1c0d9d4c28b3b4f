import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld, scripted } from './mcp-world.ts';

let world: McpWorld;
let upstream: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(allowAll);
  upstream = startServer('everything-http');
  const [command, ...args] = scripted;
  proxy = serveServers(world, { scripted: { command, args }, everything: { url: await upstream.address() } });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

it.each([
  ['scripted', 'nobody knows a newer one', false],
  ['scripted', 'the agent already comes with a newer one', true],
  ['everything', 'nobody knows a newer one', false],
  ['everything', 'the agent already comes with a newer one', true],
])('a stream of %s ends with the token that opened it, where %s', async (server, _what, comesBack) => {
  const { token } = await world.gateway.register({ agentId: 'listener' });
  const visitor = new McpVisitor(await proxy.address(), server);
  await (await visitor.open(token)).text();
  const common = { 'mcp-session-id': visitor.session ?? '', accept: 'text/event-stream' };
  const stream = await fetch(visitor.url, { headers: { ...common, authorization: `Bearer ${token}` } });
  expect(stream.status).toBe(200);
  const newer = await world.gateway.register({ agentId: 'listener' });
  if (comesBack) expect((await visitor.call(newer.token)).status).toBe(200);
  // It ends, or the test does not.
  await stream.text();
  expect((await visitor.call(token)).status).toBe(401);
  const next = await fetch(visitor.url, { headers: { ...common, authorization: `Bearer ${newer.token}` } });
  expect(next.status).toBe(200);
  await next.body?.cancel();
});

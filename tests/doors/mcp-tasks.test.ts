import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld } from './mcp-world.ts';

// A server that puts off a result, unasked, gives it to whoever asks for its task. Nobody judges it then.

const policy = `
name: test
default: allow
rules:
  - { name: no-mail, on: result, effect: mask, tools: [lookup], mask: { detect: [email] } }
`;
const secret = 'anna@example.com';
const prefix = 'io.modelcontextprotocol/';
const revision = '2026-07-28';
const envelope = {
  [`${prefix}protocolVersion`]: revision,
  [`${prefix}clientInfo`]: { name: 'bare', version: '1' },
  [`${prefix}clientCapabilities`]: {},
};

let world: McpWorld;
let upstream: Listening;
let alone: Listening;
let replicas: Listening[];

beforeAll(async () => {
  world = await McpWorld.start(policy);
  upstream = startServer('tasks-http');
  const servers = { tasks: { url: await upstream.address() } };
  const keyFile = join(world.folder, 'session.key');
  writeFileSync(keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  alone = serveServers(world, servers);
  await alone.address();
  replicas = [1, 2].map(() => serveServers(world, servers, ['--session-key-file', keyFile]));
  for (const replica of replicas) await replica.address();
});
afterAll(async () => {
  for (const each of [alone, ...replicas, upstream]) await each[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Asks within the session of the visitor, or outside of any, and gives what the client reads. */
async function ask(visitor: McpVisitor, method: string, params: Readonly<Record<string, unknown>>): Promise<string> {
  const isStateless = visitor.session === undefined;
  const all = isStateless ? { ...params, _meta: envelope } : params;
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const headers = isStateless ? { 'mcp-protocol-version': revision, 'mcp-method': method, ...name } : {};
  const answer = await visitor.send({ jsonrpc: '2.0', id: 7, method, params: all }, world.agent.token, headers);
  return answer.text();
}

const fetching = [
  ['tasks/list', {}],
  ['tasks/get', { taskId: 'task-lookup' }],
  ['tasks/result', { taskId: 'task-lookup' }],
] as const;

async function expectWithheld(visitor: McpVisitor): Promise<void> {
  for (const [method, params] of fetching) {
    const read = await ask(visitor, method, params);
    expect(read, method).toContain('Denied by policy: ');
    expect(read, method).not.toContain(secret);
  }
}

describe('the task of a call whose result is judged', () => {
  it('brings nothing outside of sessions, and those of other calls bring all', async () => {
    const visitor = new McpVisitor(await alone.address(), 'tasks');
    expect(await ask(visitor, 'tools/call', { name: 'weather' })).toContain('task-weather');
    expect(await ask(visitor, 'tools/call', { name: 'lookup' })).toContain('Denied by policy: ');
    await expectWithheld(visitor);
    expect(await ask(visitor, 'tasks/result', { taskId: 'task-weather' })).toContain(secret);
  });

  it('brings nothing in another session of the same agent', async () => {
    const [first, second] = [
      new McpVisitor(await alone.address(), 'tasks'),
      new McpVisitor(await alone.address(), 'tasks'),
    ];
    for (const visitor of [first, second]) await (await visitor.open(world.agent.token)).text();
    expect(await ask(first, 'tools/call', { name: 'lookup' })).toContain('Denied by policy: ');
    await expectWithheld(second);
  });

  it('brings nothing at another replica, in the session or outside of any', async () => {
    const [one, other] = await Promise.all(replicas.map((each) => each.address()));
    const [first, second] = [new McpVisitor(one ?? '', 'tasks'), new McpVisitor(other ?? '', 'tasks')];
    await expectWithheld(second);
    await (await first.open(world.agent.token)).text();
    second.session = first.session;
    expect(await ask(first, 'tools/call', { name: 'weather' })).toContain('task-weather');
    expect(await ask(first, 'tasks/result', { taskId: 'task-weather' })).toContain(secret);
    expect(await ask(first, 'tools/call', { name: 'lookup' })).toContain('Denied by policy: ');
    await expectWithheld(second);
  });
});

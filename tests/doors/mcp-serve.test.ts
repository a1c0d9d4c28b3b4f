import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers } from './mcp-processes.ts';
import { McpWorld, scripted } from './mcp-world.ts';

let world: McpWorld;
let other: Registered;
let proxy: Listening;
let base: string;

beforeAll(async () => {
  world = await McpWorld.start();
  other = await world.gateway.register({ agentId: 'other' });
  const [command, ...args] = scripted;
  const server = { command, args, env: { HEARD_FILE: world.heardFile }, costs: { 'ec*': '0.25' } };
  proxy = serveServers(world, { scripted: server }, [
    '--allow-origin',
    'https://app.example.com',
    '--allow-host',
    'mcp.example.com',
    '--allow-host',
    '[fd00::5]:8091',
    '--approval-wait',
    '1',
  ]);
  base = await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

interface Sent {
  readonly token?: string;
  readonly session?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly path?: string;
}

function send(body: unknown, { token = world.agent.token, session, headers = {}, method = 'POST', path }: Sent = {}) {
  return fetch(`${base}${path ?? '/mcp/scripted'}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  });
}

const rpc = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const hello = rpc('hello', 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
const call = (id: unknown, name: string, args: object = {}) => rpc(id, 'tools/call', { name, arguments: args });

async function opened(token = world.agent.token): Promise<string> {
  const response = await send(hello, { token });
  expect(response.status).toBe(200);
  const session = response.headers.get('mcp-session-id') ?? '';
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, { token, session });
  return session;
}

describe('who may come in', () => {
  it('says that it is alive to anybody', async () => {
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect(proxy.stdout).toBe(`${JSON.stringify({ event: 'listening', http: base })}\n`);
  });

  it.each(['', 'rva_of-nobody-at-all-0123456789012345'])('asks for the token of an agent: %j', async (token) => {
    const response = await send(hello, { token });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it.each([
    ['https://evil.example.com', 403],
    ['https://app.example.com', 200],
    ['own', 200],
  ])('lets pages of %s in: %i', async (origin, status) => {
    const response = await send(hello, { headers: { origin: origin === 'own' ? base : origin } });
    expect(response.status).toBe(status);
  });

  it.each([
    ['mcp.example.com', 200],
    ['MCP.Example.com.:8091', 200],
    ['[fd00:0::5]', 200],
    ['localhost', 200],
    ['evil.example.com', 421],
    ['mcp.example.com.evil.example.com', 421],
    ['mcp.example.com@evil.example.com', 421],
    ['10.0.0.1', 421],
  ])('answers for its own hosts and those that are allowed: %s %i', async (host, status) => {
    const headers = { host, authorization: `Bearer ${world.agent.token}`, 'content-type': 'application/json' };
    const answered = await new Promise((resolve) => {
      const request = httpRequest(`${base}/mcp/scripted`, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode);
        response.resume();
      });
      request.end(JSON.stringify(hello));
    });
    expect(answered).toBe(status);
  });

  it('knows its servers, methods and types', async () => {
    expect((await send(hello, { path: '/mcp/nobody' })).status).toBe(404);
    expect((await send(hello, { path: '/elsewhere' })).status).toBe(404);
    expect((await send(undefined, { method: 'PUT' })).status).toBe(405);
    expect((await send('{}', { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await send('nonsense')).status).toBe(400);
    expect((await send(`"${'x'.repeat(17 * 1024 * 1024)}"`)).status).toBe(413);
    expect((await send(rpc(1, 'tools/list'))).status).toBe(400);
    expect((await send(hello, { headers: { 'x-reeve-run-id': 'x'.repeat(129) } })).status).toBe(400);
  });
});

describe('a session', () => {
  it('belongs to the agent that opened it, and ends with DELETE', async () => {
    const session = await opened();
    expect((await send(rpc(1, 'ping'), { session })).status).toBe(200);
    expect((await send(rpc(2, 'ping'), { session, token: other.token })).status).toBe(404);
    expect((await send(undefined, { session, token: other.token, method: 'DELETE' })).status).toBe(404);
    expect((await send(undefined, { session, method: 'DELETE' })).status).toBe(204);
    expect((await send(rpc(3, 'ping'), { session })).status).toBe(404);
  });

  it('has its run and its costs', async () => {
    const session = await opened();
    const response = await send(call(1, 'echo'), { session, headers: { 'x-reeve-run-id': 'my-run' } });
    expect(await response.json()).toMatchObject({ result: { content: [{ text: '{}' }] } });
    const mine = world.decisions().at(-1)?.payload;
    expect(mine).toMatchObject({ run_id: 'my-run', cost_micros: 250_000 });
    await send(call(2, 'echo'), { session });
    await send(call(3, 'echo'), { session });
    const runs = world
      .decisions()
      .slice(-2)
      .map(({ payload }) => (payload as { run_id: string }).run_id);
    expect(new Set(runs).size).toBe(1);
  });

  it('gets messages of the server on the stream that it opened', async () => {
    const session = await opened();
    const stream = await send(undefined, { session, method: 'GET' });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const reader = stream.body?.getReader();
    await send(call(1, 'change'), { session });
    const text = new TextDecoder().decode((await reader?.read())?.value);
    expect(text).toContain('notifications/tools/list_changed');
    await reader?.cancel();
  });

  it('cancels what a client leaves behind', async () => {
    const session = await opened();
    const leave = new AbortController();
    const before = world.outcomes().length;
    const left = fetch(`${base}/mcp/scripted`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.agent.token}`,
        'content-type': 'application/json',
        'mcp-session-id': session,
      },
      body: JSON.stringify(call(1, 'slow')),
      signal: leave.signal,
    });
    await world.op();
    leave.abort();
    await expect(left).rejects.toThrow();
    await eventually(() => expect(world.outcomes().slice(before)).toEqual(['cancelled']));
    await eventually(() => expect(world.heard().at(-1)?.method).toBe('notifications/cancelled'));
  });

  it('refuses a name in the headers that is not the one in the message', async () => {
    const session = await opened();
    for (const headers of [{ 'mcp-name': 'wipe' }, { 'mcp-method': 'ping' }]) {
      expect((await send(call(1, 'echo'), { session, headers })).status).toBe(400);
    }
    const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'wipe' };
    expect((await send(rpc(2, 'ping'), { session, headers })).status).toBe(400);
  });
});

it('stops with all its servers, and delivers what it owes', async () => {
  const session = await opened();
  const pid = JSON.parse(
    ((await (await send(call(1, 'stubborn'), { session })).json()) as { result: { content: { text: string }[] } })
      .result.content[0]?.text ?? '',
  ) as { pid: number; child: number };
  void send(call(2, 'slow'), { session }).catch(() => {});
  await world.op();
  expect(await proxy.end('SIGTERM')).toBe(0);
  expect(() => process.kill(pid.pid, 0)).toThrow();
  expect(() => process.kill(pid.child, 0)).toThrow();
  expect(world.outcomes().at(-1)).toBe('cancelled');
  expect(proxy.stdout + proxy.stderr).not.toContain(world.agent.token);
});

it('does not start with a file that is not right, and says why in one line', async () => {
  using home = new TestHome();
  const config = join(world.folder, 'bad.yaml');
  const start = async (text: string) => {
    writeFileSync(config, text);
    const { code, stderr } = await home.run(['mcp', 'serve', '--config', config, '--http', '127.0.0.1:0']);
    return `${code} ${stderr.replace(config, 'FILE')}`;
  };
  expect(await start('servers: {a: {url: "${UNSET}"}}')).toBe(
    '2 error: FILE: servers.a.url needs the environment variable UNSET, which is not set\n',
  );
  expect(await start('servers: {a: {command: x, url: y}}')).toBe(
    '2 error: FILE: servers.a must have either "command" or "url"\n',
  );
});

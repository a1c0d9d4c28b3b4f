import { resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';

const policy = `
name: test
default: allow
rules:
  - { name: no-wiping, effect: deny, tools: [wipe] }
  - { name: ask, effect: require_approval, tools: [steps] }
`;
const modern = ['node', resolve('tests/doors/servers/modern.mjs'), '--stdio'];

let world: McpWorld;
let upstream: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(policy);
  upstream = startServer('modern');
  const [command, ...args] = modern;
  proxy = serveServers(world, { command: { command, args }, url: { url: await upstream.address() } });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

type Front = 'stdio' | 'http';
type Behind = 'command' | 'url';
type Mode = 'auto' | 'legacy' | { pin: string };

async function connected(front: Front, behind: Behind, mode: Mode): Promise<Client> {
  const client = new Client(
    { name: 'official', version: '2' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { sure: true } }));
  await client.connect(front === 'http' ? await overHttp(behind) : await overStdio(behind));
  return client;
}

async function overHttp(behind: Behind): Promise<StreamableHTTPClientTransport> {
  const headers = { authorization: `Bearer ${world.agent.token}` };
  const url = new URL(`${await proxy.address()}/mcp/${behind}`);
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
}

async function overStdio(behind: Behind): Promise<StdioClientTransport> {
  const where = behind === 'url' ? ['--url', await upstream.address()] : ['--', ...modern];
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new StdioClientTransport({
    command: resolve('node_modules/.bin/reeve'),
    args: ['mcp', 'run', '--server', behind, ...where],
    env: { ...Object.fromEntries(inherited), ...world.env },
    stderr: 'ignore',
  });
}

/** How many calls of `slow` the server over HTTP has begun. */
function begun(): number {
  return upstream.stderr.match(/slow began/g)?.length ?? 0;
}

/** Subscribes, is told of a change, and is told no more. */
async function hearsOfChanges(client: Client): Promise<void> {
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
  const subscription = await client.listen({ toolsListChanged: true });
  await client.callTool({ name: 'change', arguments: {} });
  await eventually(() => expect(changes).toBe(1));
  await subscription.close();
}

describe.each<[Front, Behind, Mode, string]>([
  ['stdio', 'command', { pin: '2026-07-28' }, '2026-07-28'],
  ['stdio', 'url', { pin: '2026-07-28' }, '2026-07-28'],
  ['http', 'command', 'auto', '2026-07-28'],
  ['http', 'url', 'auto', '2026-07-28'],
  ['http', 'url', 'legacy', '2025-11-25'],
])('a client over %s, in front of a server by %s, in mode %j', (front, behind, mode, revision) => {
  it(`speaks ${revision}`, async () => {
    const client = await connected(front, behind, mode);
    const call = async (name: string, args: Record<string, unknown> = {}, options: object = {}) => {
      const { content } = await client.callTool({ name, arguments: args }, options);
      return (content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
    };
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'greet',
      'route',
      'deploy',
      'steps',
      'slow',
      'change',
    ]);
    expect(await call('greet', { name: 'Ada' })).toBe('Hello Ada');
    expect(await call('wipe')).toMatch(/^Denied by policy/);
    expect(await call('route', { region: 'eu-wést' })).toBe('in eu-wést');
    // The older family cannot ask back without a session, which this server does not have.
    expect(await call('deploy')).toMatch(revision === '2025-11-25' ? /^Cannot request input/ : /^deployed$/);
    expect((await client.readResource({ uri: 'note://one' })).contents).toHaveLength(1);
    expect((await client.getPrompt({ name: 'hello' })).messages).toHaveLength(1);

    const values: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void values.push(progress);
    const steps = call('steps', {}, { onprogress });
    await world.decide(await world.approval(), 'approve');
    expect(await steps).toBe('done');
    // This client drops reports that it reads together with the result. The first one comes from the proxy.
    expect(values.length).toBeGreaterThanOrEqual(1);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));

    const cancel = new AbortController();
    const before = world.outcomes().length;
    const begunBefore = begun();
    const slow = call('slow', {}, { signal: cancel.signal });
    await world.op();
    // An operation runs at the gateway before its call is at the server.
    if (behind === 'url') await eventually(() => expect(begun()).toBe(begunBefore + 1));
    // The end of another call, or of a subscription, does not concern it.
    expect(await call('greet', { name: 'Bo' })).toBe('Hello Bo');
    if (revision === '2026-07-28') await hearsOfChanges(client);
    cancel.abort();
    await expect(slow).rejects.toThrow();
    await eventually(() => expect(world.outcomes().slice(before)).toContain('cancelled'));
    await client.close();
  });
});

it('cancels at the server as well', async () => {
  await eventually(() => expect(upstream.stderr.match(/slow was cancelled/g)).toHaveLength(3));
});

it('serves clients that number their requests alike from one server', async () => {
  const clients = await Promise.all([1, 2, 3].map(() => connected('http', 'command', { pin: '2026-07-28' })));
  const answers = await Promise.all(
    clients.map((client, index) => client.callTool({ name: 'greet', arguments: { name: String(index) } })),
  );
  const texts = answers.map(({ content }) => (content[0] as { text: string }).text);
  expect(texts).toEqual(['Hello 0', 'Hello 1', 'Hello 2']);
  await Promise.all(clients.map((client) => client.close()));
});

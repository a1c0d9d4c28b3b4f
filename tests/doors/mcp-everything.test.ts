import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

const policy = `
name: test
default: allow
rules:
  - { name: no-sums, effect: deny, tools: [get-sum] }
  - { name: no-secrets, effect: deny, tools: [write_file], when: 'args.path.contains("secret")' }
`;
const everything = resolve('node_modules/.bin/mcp-server-everything');

let world: McpWorld;
let upstream: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(policy);
  upstream = startServer('everything-http');
  const url = await upstream.address();
  proxy = serveServers(world, { command: { command: everything }, url: { url } });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

type Front = 'stdio' | 'http';
type Behind = 'command' | 'url';

/** The official client, with all that a client can offer. */
async function connected(front: Front, behind: Behind): Promise<{ client: Client; logged: unknown[] }> {
  const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const client = new Client({ name: 'official', version: '1' }, { capabilities });
  const logged: unknown[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    model: 'none',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: `sampled ${params.maxTokens}` },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' as const }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///workspace', name: 'work' }] }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  await client.connect(front === 'http' ? await overHttp(behind) : await overStdio(behind));
  return { client, logged };
}

async function overHttp(behind: Behind): Promise<StreamableHTTPClientTransport> {
  const headers = { authorization: `Bearer ${world.agent.token}` };
  return new StreamableHTTPClientTransport(new URL(`${await proxy.address()}/mcp/${behind}`), {
    requestInit: { headers },
  });
}

async function overStdio(behind: Behind): Promise<StdioClientTransport> {
  const where = behind === 'url' ? ['--url', await upstream.address()] : ['--', everything];
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new StdioClientTransport({
    command: resolve('node_modules/.bin/reeve'),
    args: ['mcp', 'run', '--server', behind, ...where],
    env: { ...Object.fromEntries(inherited), ...world.env },
    stderr: 'ignore',
  });
}

describe.concurrent.each<[Front, Behind]>([
  ['stdio', 'command'],
  ['stdio', 'url'],
  ['http', 'command'],
  ['http', 'url'],
])('the official client over %s, in front of a server by %s', (front, behind) => {
  it('has all of the protocol', async () => {
    const { client, logged } = await connected(front, behind);
    const call = async (name: string, args: object = {}, options: object = {}) => {
      const { content } = await client.callTool({ name, arguments: { ...args } }, undefined, options);
      return (content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
    };
    expect(client.getServerVersion()?.name).toBe('mcp-servers/everything');
    expect(client.getInstructions()).toContain('Everything');
    await client.ping();

    const { tools } = await eventually(async () => {
      const listed = await client.listTools();
      expect(listed.tools.map(({ name }) => name)).toContain('trigger-sampling-request');
      return listed;
    });
    expect(tools.map(({ name }) => name)).not.toContain('get-sum');
    expect(tools.find(({ name }) => name === 'echo')?.inputSchema.properties).toHaveProperty('message');
    expect(await call('echo', { message: 'héllo' })).toBe('Echo: héllo');
    expect(await call('get-sum', { a: 1, b: 2 })).toMatch(/^Denied by policy/);

    // This client drops the reports that it reads together with the result: where it gets little time, more than one.
    await eventually(async () => {
      const progress: number[] = [];
      const onprogress = ({ progress: each }: { progress: number }) => void progress.push(each);
      const long = await call('trigger-long-running-operation', { duration: 0.4, steps: 4 }, { onprogress });
      expect(long).toContain('completed');
      expect([progress, [...progress, 4]]).toContainEqual([1, 2, 3, 4]);
    }, 10);

    expect(await call('trigger-sampling-request', { prompt: 'hi', maxTokens: 7 })).toContain('sampled 7');
    expect(await call('trigger-elicitation-request')).toContain('declined');
    await eventually(async () => expect(await call('get-roots-list')).toContain('file:///workspace'));

    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(3);
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
    const { contents } = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
    expect(contents[0]).toHaveProperty('text');
    await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
    await client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' });

    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('args-prompt');
    const { messages } = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Ulm' } });
    expect(JSON.stringify(messages)).toContain('Ulm');
    const ref = { type: 'ref/prompt' as const, name: 'completable-prompt' };
    const { completion } = await client.complete({ ref, argument: { name: 'department', value: 'E' } });
    expect(completion.values).toContain('Engineering');

    await client.setLoggingLevel('debug');
    await call('toggle-simulated-logging');
    await eventually(() => expect(logged.length).toBeGreaterThan(0));
    await expect(client.readResource({ uri: 'demo://nothing' })).rejects.toThrow(/-32602|not found/i);
    await client.close();
  });
});

it('judges calls of the file system server by their arguments', async () => {
  const files = resolve('node_modules/.bin/mcp-server-filesystem');
  const client = new RawMcpClient(['--server', 'files', '--', files, world.folder], world.env);
  await client.initialize();
  const write = (name: string) => client.call('write_file', { path: join(world.folder, name), content: 'x' });
  expect((await write('fine.txt')).isError).not.toBe(true);
  expect((await write('secret.txt')).content[0]?.text).toMatch(/^Denied by policy: .*test\/no-secrets/);
  expect([existsSync(join(world.folder, 'fine.txt')), existsSync(join(world.folder, 'secret.txt'))]).toEqual([
    true,
    false,
  ]);
  expect(await client.leave()).toBe(0);
});

it('shows the server nothing of the agent', () => {
  expect(upstream.stdout).not.toContain('authorization');
});

import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Listening } from './mcp-processes.ts';
import { serveFile, startScript, startServer } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

const policy = `
name: test
default: allow
rules:
  - { name: no-secrets, on: result, effect: deny, tools: [echo], when: 'result_text.contains("FORBIDDEN")' }
  - { name: no-mail, on: result, effect: mask, tools: [echo, trigger-sampling-request], mask: { detect: [email] } }
  - name: weather
    on: result
    effect: mask
    tools: [get-structured-content]
    mask: { fields: [structuredContent.conditions, content.0.text] }
  - { name: ask, effect: require_approval, tools: [get-sum] }
  - { name: sums, on: result, effect: mask, tools: [get-sum], mask: { fields: ['content.*.text'] } }
  - { name: pictures, on: result, effect: mask, tools: [get-tiny-image], mask: { fields: ['content.*.data'] } }
  - { name: again, on: result, effect: mask, tools: [test_reconnection], mask: { fields: ['content.*.text'] } }
  - { name: resources, on: result, effect: mask, tools: [resources/read], mask: { fields: ['contents.*.text'] } }
  - { name: no-cities, effect: deny, tools: [prompts/get], when: 'args.arguments.city == "Ulm"' }
  - { name: no-sampling, effect: deny, tools: [sampling/createMessage], when: 'args.maxTokens > 100' }
  - { name: samples, on: result, effect: mask, tools: [sampling/createMessage], mask: { detect: [card] } }
  - { name: no-asking, effect: deny, tools: [elicitation/create] }
`;
const everything = resolve('node_modules/.bin/mcp-server-everything');

let world: McpWorld;
let upstream: Listening;
let reference: Listening;
let proxy: Listening;

beforeAll(async () => {
  world = await McpWorld.start(policy);
  upstream = startServer('everything-http');
  reference = startScript(resolve('tests/conformance/mcp/reference-server.mjs'));
  const servers = {
    command: { command: everything, govern: 'all' },
    url: { url: await upstream.address(), govern: ['all'] },
    tools: { url: await upstream.address() },
    reference: { url: await reference.address(), run: 'fixed' },
  };
  proxy = serveFile(world, { servers });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await reference[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

type Front = 'stdio' | 'http';
type Behind = 'command' | 'url' | 'tools';

async function connected(front: Front, behind: Behind): Promise<Client> {
  const capabilities = { sampling: {}, elicitation: {} };
  const client = new Client({ name: 'official', version: '1' }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'none',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled anna@example.com, 4111 1111 1111 1111' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => {
    throw new Error('nobody may ask');
  });
  await client.connect(front === 'http' ? await overHttp(behind) : await overStdio(behind));
  return client;
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
    args: ['mcp', 'run', '--server', behind, '--govern', 'all', ...where],
    env: { ...Object.fromEntries(inherited), ...world.env },
    stderr: 'ignore',
  });
}

describe.each<[Front, Behind]>([
  ['stdio', 'command'],
  ['stdio', 'url'],
  ['http', 'command'],
  ['http', 'url'],
])('the official client over %s, in front of a server by %s', (front, behind) => {
  it('reads results as policy leaves them', async () => {
    await using started = {
      client: await connected(front, behind),
      [Symbol.asyncDispose]: () => started.client.close(),
    };
    const { client } = started;
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
      return { ...result, text: result.content.map((item) => ('text' in item ? item.text : '')).join('\n') };
    };
    expect((await call('echo', { message: 'write to anna@example.com' })).text).toBe('Echo: write to [masked]');
    const refused = await call('echo', { message: 'FORBIDDEN' });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(/^Denied by policy: .*no-secrets/)]);
    await client.listTools();
    const { structuredContent, text } = await call('get-structured-content', { location: 'New York' });
    expect([structuredContent, text]).toEqual([{ temperature: 33, conditions: '[masked]', humidity: 82 }, '[masked]']);
    expect((await client.callTool({ name: 'get-tiny-image' })).content).toContainEqual({
      type: 'text',
      text: 'masked by policy',
    });

    const { contents } = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
    expect(contents).toEqual([expect.objectContaining({ text: '[masked]' })]);
    const getPrompt = (city: string) => client.getPrompt({ name: 'args-prompt', arguments: { city } });
    expect(JSON.stringify(await getPrompt('Bonn'))).toContain('Bonn');
    await expect(getPrompt('Ulm')).rejects.toMatchObject({
      code: -32_001,
      message: expect.stringMatching(/Denied by policy: .*no-cities/) as string,
    });

    await eventually(async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('trigger-sampling-request');
    });
    const sampled = await call('trigger-sampling-request', { prompt: 'hi', maxTokens: 7 });
    expect(sampled.text).toContain('sampled [masked], [masked]');
    expect((await call('trigger-sampling-request', { prompt: 'hi', maxTokens: 500 })).text).toMatch(/Denied by policy/);
    expect((await call('trigger-elicitation-request')).text).toMatch(/Denied by policy/);
  });
});

it('judges the result of a call that a person has approved', async () => {
  const client = await connected('http', 'tools');
  const called = client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } });
  await world.decide(await world.approval(), 'approve');
  expect((await called).content).toEqual([{ type: 'text', text: '[masked]' }]);
  await client.close();
});

it.each([
  [['--govern', 'tools/list'], '--govern: "tools/list" cannot be governed'],
  [['--govern', ''], '--govern: "" cannot be governed'],
])('does not start with %j', async (args, message) => {
  const client = new RawMcpClient(['--server', 's', ...args, '--', everything], world.env);
  expect([await client.ended(), client.stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('does not serve a file that governs what is not known', async () => {
  const wrong = serveFile(world, { govern: 'everything', servers: { one: { command: everything } } });
  await eventually(() => expect(wrong.child.exitCode).toBe(2));
  expect(wrong.stderr).toContain('govern: "everything" cannot be governed');
});

it('governs tools alone unless the file says otherwise', async () => {
  const client = await connected('http', 'tools');
  const { contents } = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
  expect(JSON.stringify(contents)).toContain('plaintext resource');
  await client.close();
});

it('records what became of results', () => {
  const types = new Set(world.gateway.audit().map(({ event_type: type }) => type));
  expect([...types]).toEqual(expect.arrayContaining(['ResultMasked', 'ResultDenied', 'ResultAllowed']));
  expect(JSON.stringify(world.gateway.audit())).not.toContain('result_not_judged');
});

describe('a stream that is resumed', () => {
  it('brings the result as it was judged, again and again, and the run is the session', async () => {
    const { token } = world.agent;
    const visitor = new McpVisitor(await proxy.address(), 'reference');
    await (await visitor.open(token)).text();
    const common = { authorization: `Bearer ${token}`, 'mcp-session-id': visitor.session ?? '' };
    const params = { name: 'test_reconnection' };
    const called = await visitor.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, token, {
      'x-reeve-run-id': 'chosen',
      'mcp-protocol-version': '2025-11-25',
    });
    const first = await called.text();
    expect(first).not.toContain('after the');
    const lastId = [...first.matchAll(/^id: ?(.+)$/gm)].at(-1)?.[1] ?? '';
    for (let times = 1; times <= 3; times++) {
      const headers = { ...common, accept: 'text/event-stream', 'last-event-id': lastId };
      // The server may not have heard yet that the stream before this one was left.
      const resumed = await eventually(async () => {
        const response = await fetch(visitor.url, { headers });
        expect(response.status).toBe(200);
        return response;
      });
      let read = '';
      for await (const chunk of resumed.body ?? []) {
        read += Buffer.from(chunk).toString();
        if (read.includes('"result"')) break;
      }
      expect(read).toContain('"text":"[masked]"');
      expect(read).not.toContain('after the');
    }
    const runs = world.decisions().map(({ payload }) => (payload as { run_id?: string }).run_id);
    expect(runs).not.toContain('chosen');
    expect(JSON.stringify(world.gateway.audit())).not.toContain(visitor.session);
  });
});

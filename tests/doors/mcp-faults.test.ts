import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowAll, bootstrapKey } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';
import { McpWorld, scripted } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

let world: McpWorld;

beforeAll(async () => {
  world = await McpWorld.start(allowAll);
});
afterAll(() => world[Symbol.asyncDispose]());

const nowhere = { REEVE_GRPC_ADDR: '127.0.0.1:1' };

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a server that', () => {
  it('crashes answers nothing more: whoever waits gets an error, and the proxy ends', async () => {
    await using client = await world.run();
    const slow = client.start('tools/call', { name: 'slow' });
    const plain = client.start('tools/call', { name: 'crash' });
    for (const id of [slow, plain]) {
      expect((await client.answer(id)).error?.message).toBe('the MCP server has ended with exit code 3');
    }
    expect(await client.ended()).toBe(1);
    expect(client.stderr).toBe('reeve mcp: the MCP server has ended with exit code 3\n');
    await eventually(() => expect(world.outcomes().slice(-2)).toEqual(['failed', 'failed']));
  });

  it('cannot be started ends the proxy with one line', async () => {
    const client = new RawMcpClient(['--server', 'x', '--', '/no/such/server'], world.env);
    expect(await client.ended()).toBe(1);
    expect(client.stderr).toBe('reeve mcp: the MCP server /no/such/server cannot be started: ENOENT\n');
    expect(client.lines).toEqual([]);
  });

  it('writes garbage is heard where it makes sense', async () => {
    await using client = await world.run();
    const { content } = await client.call('noise');
    expect(content[0]?.text).toBe('after the noise');
    const strange = client.lines.filter((line) => !line.startsWith('{"jsonrpc":"2.0",'));
    expect(strange).toEqual([]);
    expect(client.lines.every((line) => line.startsWith('{') || line === '[]')).toBe(true);
    expect(client.stderr.match(/no message/g)).toHaveLength(1);
  });

  it('writes a line of 100 MB is ended', async () => {
    await using client = await world.run();
    const { error } = await client.ask('tools/call', { name: 'huge' });
    expect(error?.message).toMatch(/more than 16777216 bytes/);
    expect(await client.ended()).toBe(1);
    await eventually(() => expect(world.outcomes().at(-1)).toBe('failed'));
  });

  it('sees nothing of what is meant for the proxy', async () => {
    await using client = await world.run([], { REEVE_API_KEY: '', REEVE_ANYTHING: 'x', OTHER: 'y' });
    const { content } = await client.call('env');
    const names = JSON.parse(content[0]?.text ?? '') as string[];
    expect(names).toContain('OTHER');
    expect(names.filter((name) => name.startsWith('REEVE_'))).toEqual([]);
  });
});

describe('a client that', () => {
  it('goes away ends its calls and the server', async () => {
    const client = await world.run();
    client.start('tools/call', { name: 'slow' });
    await world.op();
    expect(await client.leave()).toBe(0);
    await eventually(() => expect(world.outcomes().at(-1)).toBe('cancelled'));
    expect(world.heard().at(-1)?.method).toBe('notifications/cancelled');
  });

  it('no longer reads has gone away as well', async () => {
    const client = await world.run();
    client.start('tools/call', { name: 'slow' });
    await world.op();
    const before = world.outcomes().length;
    client.child.stdout.destroy();
    client.start('ping');
    client.start('ping');
    expect(await client.ended()).toBe(0);
    expect(world.outcomes().slice(before)).toEqual(['cancelled']);
  });

  it('writes garbage is told so, and goes on', async () => {
    await using client = await world.run();
    client.write('this is no JSON');
    client.write(`{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"${'x'.repeat(17 * 1024 * 1024)}"}}`);
    expect((await client.ask('ping')).result).toEqual({});
    expect(client.messages.filter(({ error }) => error !== undefined).map(({ error }) => error?.code)).toEqual([
      -32_700, -32_600,
    ]);
  });

  it('sends what nobody knows gets it through as it is', async () => {
    await using client = await world.run();
    client.write(
      '{"jsonrpc":"2.0","id":"a","method":"x/mirror","params":{"n":12345678901234567890,"f":1.0,"e":1e400}}',
    );
    client.write('{"jsonrpc":"2.0","id":null,"method":"x/unknown","extra":true}');
    client.write('[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"x/note"}]');
    await eventually(() => expect(client.lines).toContain('[{"jsonrpc":"2.0","id":7,"result":{}}]'));
    expect(client.lines).toContain('{"jsonrpc":"2.0","id":"a","result":{"n":12345678901234567890,"f":1.0,"e":1e400}}');
    expect(client.lines).toContain('{"jsonrpc":"2.0","id":null,"result":{}}');
    expect(world.heard()).toContainEqual({ jsonrpc: '2.0', id: null, method: 'x/unknown', extra: true });
  });

  it('asks for calls in a batch gets the answers together', async () => {
    await using client = await world.run();
    const call = (id: string, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
    client.write(JSON.stringify([call('one', 'echo'), call('two', 'fail'), { jsonrpc: '2.0', id: 3, method: 'ping' }]));
    const batch = await eventually(() => {
      const found = client.lines.find((line) => line.startsWith('['));
      if (found === undefined) throw new Error('no batch');
      return JSON.parse(found) as { id: unknown }[];
    });
    expect(batch.map(({ id }) => String(id)).toSorted((a, b) => a.localeCompare(b))).toEqual(['3', 'one', 'two']);
  });
});

describe.concurrent('what takes its time:', () => {
  it('a server that does not want to end is ended, and so are its children', async () => {
    const client = await world.run();
    const { content } = await client.call('stubborn');
    const { pid, child } = JSON.parse(content[0]?.text ?? '') as { pid: number; child: number };
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
    client.child.kill('SIGTERM');
    expect(await client.ended()).toBe(0);
    await eventually(() => expect([isAlive(pid), isAlive(child)]).toEqual([false, false]));
  });

  it('without the gateway, nothing is called, and nothing is listed', async () => {
    const heard = { HEARD_FILE: `${world.heardFile}-closed` };
    await using client = await world.run([], { ...nowhere, ...heard });
    const { content, isError } = await client.call('echo');
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^Reeve is not reachable/);
    expect((await client.ask('tools/list')).error?.message).toMatch(/^Reeve is not reachable/);
    expect(readFileSync(heard.HEARD_FILE, 'utf8')).not.toContain('tools/call');
    expect(client.stderr + client.lines.join('')).not.toContain(world.agent.token);
  });

  it('without the gateway, everything is called with --fail-open, and each time it says so', async () => {
    await using client = await world.run(['--fail-open'], nowhere);
    expect((await client.call('echo', { a: 1 })).content[0]?.text).toBe('{"a":1}');
    expect((await client.ask('tools/list')).result?.tools?.length).toBeGreaterThan(0);
    expect(client.stderr.match(/fail-open: a call of "echo" passes/g)).toHaveLength(1);
    expect(client.stderr.match(/fail-open: a list of tools passes/g)).toHaveLength(1);
  });

  it('without the gateway, calls under way end as they would, and are reported once it is back', async () => {
    const own = await McpWorld.start(allowAll);
    const client = await own.run();
    const id = client.start('tools/call', { name: 'slow' });
    await own.op();
    const { gateway } = own;
    const port = gateway.grpc.split(':')[1] ?? '';
    const back = await gateway.restart('SIGKILL', { args: ['--grpc', `127.0.0.1:${port}`] });
    await client.ask('x/finish');
    expect((await client.answer(id)).result?.content[0]?.text).toBe('finished');
    await eventually(() => {
      const ended = back.audit().filter(({ event_type: type }) => type === 'OpStateChanged');
      expect(ended.at(-1)?.payload).toMatchObject({ outcome: 'succeeded' });
    });
    await client[Symbol.asyncDispose]();
    await back[Symbol.asyncDispose]();
  });
});

it('registers an agent that it knows by name, once, and keeps its token to itself', async () => {
  const named = { REEVE_AGENT_TOKEN: '', REEVE_API_KEY: bootstrapKey, HOME: world.folder };
  for (const [times, how] of [
    [1, { ...named, REEVE_AGENT: 'acme/core/anna' }],
    [1, { ...named, REEVE_API_KEY: '', REEVE_AGENT: 'acme/core/anna' }],
  ] as const) {
    const client = await world.run([], how);
    expect((await client.call('env')).content[0]?.text).not.toContain('REEVE_');
    expect(await client.leave()).toBe(0);
    const registered = world.gateway.audit().filter(({ event_type: type, lineage }) => {
      return type === 'AgentRegistered' && lineage.agent_id === 'anna';
    });
    expect(registered).toHaveLength(times);
  }
});

it('refuses to start without knowing who asks, in one line', async () => {
  const client = new RawMcpClient(['--server', 'x', '--', ...scripted], { HOME: world.folder });
  expect(await client.ended()).toBe(2);
  expect(client.stderr).toMatch(/^error: no agent: .*REEVE_AGENT_TOKEN or REEVE_AGENT\n$/);
});

import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { startScript } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

let world: McpWorld;
let upstream: Listening;

beforeAll(async () => {
  world = await McpWorld.start(allowAll);
  upstream = startScript(resolve('tests/doors/servers/slow-http.mjs'));
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** How often the server has heard or said this. */
const count = (text: string) => upstream.stdout.split(text).length - 1;

describe.each([
  ['streams its answers', 'stream'],
  ['answers with plain JSON', 'plain'],
])('a call at a server over HTTP that %s', (_what, path) => {
  let client: RawMcpClient;

  beforeAll(async () => {
    const url = `${await upstream.address()}/${path}`;
    client = await new RawMcpClient(['--server', 'slow', '--url', url], world.env).initialize();
  });
  afterAll(() => client[Symbol.asyncDispose]());

  const begun = async () => {
    const before = count('"name":"slow"');
    const id = client.start('tools/call', { name: 'slow' });
    const { op_id: opId } = await world.op();
    await eventually(() => expect(count('"name":"slow"')).toBe(before + 1));
    return { id, opId };
  };

  it('is stopped there before its receipt says so', async () => {
    const [told, stopped] = [count('notifications/cancelled'), count('was cancelled')];
    const { id, opId } = await begun();
    const { id: control } = await world.control('terminate', opId);
    const { result } = await client.answer(id);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^Stopped.*enough/) }] });
    await eventually(async () => expect(await world.receipt(control)).toBe('effective'));
    expect([count('notifications/cancelled'), count('was cancelled')]).toEqual([told + 1, stopped + 1]);
  });

  it('keeps its result while it is paused', async () => {
    const { id, opId } = await begun();
    const { id: control } = await world.control('pause', opId);
    await fetch(`${await upstream.address()}/finish`);
    await eventually(async () => expect(await world.receipt(control)).toBe('effective'));
    await client.ask('ping');
    expect(client.messages.some((message) => message.id === id && message.method === undefined)).toBe(false);
    await world.control('resume', opId);
    expect((await client.answer(id)).result?.content[0]?.text).toBe('finished');
    await eventually(() => expect(world.outcomes().at(-1)).toBe('succeeded'));
  });

  it('has its numbers as they were written', async () => {
    const written = '"arguments":{"id":9007199254740992,"ratio":0.10,"count":1e2}';
    client.write(`{"jsonrpc":"2.0","id":"digits","method":"tools/call","params":{"name":"echo",${written}}}`);
    expect((await client.answer('digits')).result?.content[0]?.text).toBe('heard');
    expect(count(written)).toBeGreaterThan(0);
  });
});

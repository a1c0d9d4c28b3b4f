import { afterAll, beforeAll, expect, it } from 'vitest';
import { McpWorld } from './mcp-world.ts';

const policy = `
name: test
default: allow
rules:
  - { name: bounded, effect: allow, tools: [echo, steps, resources/read], rewrite: { limit: '5', path: '"/srv"' } }
  - { name: no-wide, effect: deny, tools: [echo], when: 'has(args.limit) && args.limit == 5 && has(args.wide)' }
  - { name: ask, effect: require_approval, tools: [steps] }
`;

let world: McpWorld;
beforeAll(async () => {
  world = await McpWorld.start(policy);
});
afterAll(() => world[Symbol.asyncDispose]());

/** What the server was called with last. */
const heardParams = (method: string) => world.heard().findLast((message) => message.method === method)?.params;

it('calls a server with the arguments that policy has rewritten, and with none that it then denies', async () => {
  await using client = await world.run(['--govern', 'all']);
  const { content } = await client.call('echo', { limit: 500, path: '/', q: 'x' });
  expect(JSON.parse(content[0]?.text ?? '')).toEqual({ limit: 5, path: '/srv', q: 'x' });
  const denied = await client.call('echo', { wide: true });
  expect(denied.content[0]?.text).toMatch(/^Denied by policy: /);
  await client.ask('resources/read', { uri: 'note://one', _meta: { progressToken: 1 } });
  expect(heardParams('resources/read')).toEqual({
    uri: 'note://one',
    limit: 5,
    path: '/srv',
    _meta: { progressToken: 1 },
  });
});

it('calls it so after an approval, too', async () => {
  await using client = await world.run();
  const called = client.call('steps', { limit: 500 });
  await world.decide(await world.approval(), 'approve');
  expect((await called).isError).not.toBe(true);
  expect(heardParams('tools/call')).toMatchObject({ name: 'steps', arguments: { limit: 5, path: '/srv' } });
});

import { expect, it } from 'vitest';
import { McpWorld } from './mcp-world.ts';

const policy = `
name: test
default: allow
rules:
  - name: no-destruction
    effect: deny
    actions: [tool_call]
    when: 'has(action.annotations.destructiveHint) && action.annotations.destructiveHint'
`;

it('tells policies what the server says of a tool, and the log by which door a call came', async () => {
  await using world = await McpWorld.start(policy);
  await using client = await world.run();
  await client.ask('tools/list');
  expect((await client.call('wipe')).content[0]?.text).toMatch(/^Denied by policy/);
  expect((await client.call('echo')).content[0]?.text).toBe('{}');
  const payload = JSON.stringify(world.decisions().at(-1)?.payload);
  expect(payload).toContain('"door":"mcp"');
  expect(payload).toContain('readOnlyHint');
});

import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { McpWorld } from './mcp-world.ts';

let world: McpWorld;
let home: TestHome;
let server: Server;
let path: string;

/** As `ssh -L` brings a gateway of another machine to a socket of this one. */
beforeAll(async () => {
  world = await McpWorld.start();
  home = new TestHome();
  path = join(world.folder, 'reeve.sock');
  const [host = '', port = ''] = world.gateway.grpc.split(':');
  server = createServer((near) => {
    const far = connect(Number(port), host);
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
});
afterAll(async () => {
  server.close();
  home[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

test.each(['unix:', 'unix://'])('hooks and proxies reach a gateway at %s and a path', async (scheme) => {
  const env = { REEVE_GRPC_ADDR: `${scheme}${path}` };
  const event = {
    hook_event_name: 'PreToolUse',
    session_id: 'session',
    tool_use_id: `use-${scheme.length}`,
    tool_name: 'wipe',
    tool_input: {},
    cwd: world.folder,
  };
  const { code, stdout } = await home.run(['hook', 'claude-code'], {
    env: { ...env, REEVE_AGENT: 'acme/core/coder', REEVE_API_KEY: bootstrapKey },
    input: JSON.stringify(event),
  });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/"deny".*no-wiping/)]);
  await using client = await world.run([], env);
  expect((await client.call('echo', { q: 1 })).content[0]?.text).toBe('{"q":1}');
});

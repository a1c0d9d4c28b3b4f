import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let home: TestHome;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  home = new TestHome();
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const register = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  home.run(['agents', 'register', ...args], {
    env: { REEVE_API_URL: gateway.http, REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey, ...env },
  });

test('a registered agent has its token shown once, and can act with it', async () => {
  const shown = await register(['acme/core/bot', '--name', 'The bot', '--framework', 'plain']);
  expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('not shown again') });
  const token = /^Token +(rva_\S+)$/m.exec(shown.stdout)?.[1] ?? '';
  expect(await gateway.identify(token)).toEqual({
    agentId: { orgId: 'acme', teamId: 'core', agentId: 'bot' },
    suspended: false,
    subjectIssuers: [],
    expiresAt: '',
    tokenTtlSecs: 0,
  });
  const { body } = await gateway.api.get('/api/v1/agents', bootstrapKey);
  expect(body).toMatchObject({ items: [{ name: 'The bot', framework: 'plain', agent_id: 'bot' }] });
});

test('as data it is the same in JSON and YAML, and registering again replaces the token', async () => {
  const first = JSON.parse((await register(['-/-/alone', '-o', 'json'])).stdout) as { token: string };
  expect(first).toEqual({ org_id: '', team_id: '', agent_id: 'alone', token: expect.any(String), created: true });
  const again = await register(['-/-/alone', '-o', 'yaml', '--grpc-addr', gateway.grpc], {
    REEVE_GRPC_ADDR: '127.0.0.1:1',
  });
  const second = parse(again.stdout) as { token: string; created: boolean };
  expect(second).toMatchObject({ agent_id: 'alone', created: false });
  await expect(gateway.identify(first.token)).rejects.toMatchObject({ code: 16 });
  expect((await gateway.identify(second.token)).agentId).toMatchObject({ agentId: 'alone' });
});

test('the session of the context is enough', async () => {
  await home.run(['login'], { env: { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey } });
  const { code } = await register(['acme/core/by-session'], { REEVE_API_KEY: '' });
  expect(code).toBe(0);
  await home.run(['logout'], { env: { REEVE_API_URL: gateway.http } });
});

test('what cannot be done is said in one line, and nothing secret is in it', async () => {
  const { key } = await makeKey(gateway, { scopes: ['read'] });
  const other = await makeKey(gateway, { scopes: ['write'], org_id: 'other' });
  const failures: [string[], Record<string, string>, number, string][] = [
    [['acme/bot'], {}, 2, 'AGENT must be ORG/TEAM/AGENT'],
    [['acme/core/b t'], {}, 2, 'AGENT must be ORG/TEAM/AGENT'],
    [['acme/core/bot'], { REEVE_API_KEY: '' }, 1, 'no API key'],
    [['acme/core/bot'], { REEVE_API_KEY: key }, 1, 'scope'],
    [['acme/core/bot'], { REEVE_API_KEY: other.key }, 1, 'cannot register acme/core/bot'],
    [['acme/core/bot'], { REEVE_GRPC_ADDR: '127.0.0.1:1' }, 1, 'is that the gRPC address'],
    [['acme/core/bot'], { REEVE_GRPC_ADDR: 'http://x' }, 2, 'REEVE_GRPC_ADDR must be HOST:PORT'],
  ];
  for (const [args, env, code, words] of failures) {
    const exit = await register(args, env);
    expect(exit).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
    expect(exit.stderr.trim().split('\n')).toHaveLength(1);
    expect(exit.stderr).not.toMatch(/rvk_|rva_/);
  }
});

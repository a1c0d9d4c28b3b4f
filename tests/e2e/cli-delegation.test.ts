import { connect } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

test('the tree shows who acts for whom, and one command ends it', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using home = new TestHome();
  const env = { REEVE_API_URL: gateway.http };
  const run = (...args: string[]) => home.run(args, { env });
  await run('login', '--api-key', bootstrapKey);
  using reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 40_000 });
  const boss = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'boss' });
  const child = await boss.delegate({ childId: 'child', ttl: 600, maxChecks: 5, maxCostUsd: 2, tools: ['read_*'] });
  await child.delegate({ childId: 'below', ttl: 600 });
  await child.check({ tool: 'read_file' });
  const tree = await home.run(['agents', 'tree'], { env: { ...env, COLUMNS: '200' } });
  expect(tree.stdout).toMatch(/acme\/core\/boss +active/);
  expect(tree.stdout).toMatch(/└ acme\/core\/child +active .*boss +1 of 5 checks; 0\.00 of 2\.00 USD; tools read_\*/);
  expect(tree.stdout).toMatch(/ {2}└ acme\/core\/below/);
  const below = await home.json<{ agent: { agent_id: string }; children: unknown[] }>(
    ['agents', 'tree', 'acme/core/child'],
    { env },
  );
  expect([below.agent.agent_id, below.children.length]).toEqual(['child', 1]);
  const ended = await run('agents', 'revoke-delegation', 'acme/core/child', '--reason', 'done');
  expect([ended.code, ended.stdout]).toEqual([
    0,
    'acme/core/child no longer acts for acme/core/boss; it had used 1 check, 0.00 USD.\n',
  ]);
  expect((await run('agents', 'revoke-delegation', 'acme/core/boss')).code).not.toBe(0);
  expect((await run('agents', 'tree')).stdout).not.toContain('child');
});

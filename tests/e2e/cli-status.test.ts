import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: house
default: allow
rules: [{ name: payments, effect: require_approval, tools: [pay] }]
`;

describe('status', () => {
  test('shows the gateway of the context, the caller, the policy in force, and what runs and waits', async () => {
    await using gateway = await TestGateway.start({ policies: { 'house.yaml': policy } });
    using home = new TestHome();
    home.writeConfig({ current_context: 'here', contexts: { here: { api_url: gateway.http, api_key: bootstrapKey } } });
    const agent = await gateway.register({ orgId: 'acme', teamId: 'shop', agentId: 'clerk' });
    await gateway.check(agent, { traceId: 'one', spanId: 's', context: toolCall('read', {}) });
    await gateway.check(agent, { traceId: 'two', spanId: 's', context: toolCall('pay', {}) });
    const { code, stdout, stderr } = await home.run(['status']);
    expect([code, stderr]).toEqual([0, '']);
    const version = (await gateway.api.get<{ policy_version: string }>('/api/v1/policies', bootstrapKey)).body;
    expect(stdout.split('\n')).toEqual([
      `Gateway     ${gateway.http} (context here)`,
      `gRPC        ${gateway.grpc}`,
      'You         bootstrap: read, write, admin; bound to no tenant',
      `Policy      house (version ${version.policy_version})`,
      'Suspended   nothing',
      'Agents      1: 1 active',
      'Operations  1 running, 0 paused, 1 pending',
      'Approvals   1 waiting',
      '',
    ]);
    const { key } = await makeKey(gateway, { label: 'other', scopes: ['read'], org_id: 'other' });
    const other = await home.run(['status', '-o', 'yaml', '--api-key', key]);
    expect(parse(other.stdout)).toMatchObject({
      context: 'here',
      api_url: gateway.http,
      grpc_addr: gateway.grpc,
      tls: false,
      caller: { scopes: ['read'], org_id: 'other' },
      policies: { names: [], total: 0 },
      suspensions: { items: [], total: 0 },
      agents: { agents: 0 },
      ops: { running: 0, paused: 0, pending: 0 },
      approvals_pending: 0,
    });
    const { stdout: toTenant } = await home.run(['status', '--api-key', key]);
    expect(toTenant, 'a tenant does not see what the gateway has').not.toContain('denied');
    expect(toTenant).toContain('Policy      none of other’s own');
  });

  test('names what is suspended, to whom it concerns', async () => {
    await using gateway = await TestGateway.start({ policies: { 'house.yaml': policy } });
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
    for (const orgId of ['acme', 'beta', 'corp']) await gateway.register({ orgId, teamId: 'shop', agentId: 'clerk' });
    const suspend = async (...args: string[]) =>
      expect((await home.run(['suspend', ...args, '--reason', 'drill', '--yes'], { env })).code).toBe(0);
    await suspend('--org', 'acme', '--team', 'shop');
    await suspend('--org', 'beta');
    const { stdout } = await home.run(['status'], { env });
    expect(stdout).toContain('Suspended   beta, acme/shop, so every check there is denied (reeve suspensions)\n');
    const { key } = await makeKey(gateway, { label: 'corp', scopes: ['read'], org_id: 'corp' });
    const ofCorp = async () => (await home.run(['status'], { env: { ...env, REEVE_API_KEY: key } })).stdout;
    expect(await ofCorp()).toContain('Suspended   nothing\n');
    await suspend('--org', 'acme');
    await suspend('--all');
    expect(await ofCorp()).toContain('Suspended   everything, so every check there is denied');
    const data = await home.json<{ suspensions: { items: { org_id: string | null }[]; total: number } }>(['status'], {
      env,
    });
    expect(data.suspensions).toMatchObject({
      total: 4,
      items: [{ org_id: null }, { org_id: 'acme' }, { org_id: 'beta' }],
    });
    expect((await home.run(['status'], { env })).stdout).toContain('everything, acme, beta and 1 more, so');
  });

  test('says that everything is denied where no policy is in force, and how to log in', async () => {
    await using gateway = await TestGateway.start({ policies: {} });
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http };
    const { stdout } = await home.run(['status'], { env: { ...env, REEVE_API_KEY: bootstrapKey } });
    expect(stdout).toContain(`Gateway     ${gateway.http}\n`);
    expect(stdout).toContain('Policy      none, so everything is denied\n');
    const nobody = await home.run(['status'], { env });
    expect([nobody.code, nobody.stdout]).toEqual([1, '']);
    expect(nobody.stderr).toContain('reeve login');
  });
});

import type { Problem } from '@reeve/contract/http';
import { describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';
import { durableStores } from '../harness/stores.ts';

/** A tenant's document lowers the operator's caps and never raises them, whatever becomes of the document. */

const policies = {
  'base.yaml': 'name: base\ndefault: allow\nbudget: {org_daily_limit_usd: 5, agent_daily_limit_usd: 1000}\n',
};
const capped = (usd: number) => `scope: org:acme\nbudget: {daily_limit_usd: ${usd}}\n`;
const tenant = { scopes: ['admin' as const], org_id: 'acme' };

async function capOf(gateway: TestGateway): Promise<string | null | undefined> {
  const path = '/api/v1/budgets?tier=org&period=day&org_id=acme';
  const { body } = await gateway.api.get<{ items: { limit_usd: string | null }[] }>(path, bootstrapKey);
  return body.items[0]?.limit_usd;
}

describe('a document in a tenant’s namespace', () => {
  test('only lowers caps, also once the operator has edited it or rolled it back', async () => {
    await using gateway = await TestGateway.start({ policies });
    await gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
    const acme = new Policies(gateway, (await makeKey(gateway, tenant)).key);
    const whole = new Policies(gateway);
    await acme.put('money', capped(900));
    expect(await capOf(gateway)).toBe('5.00');
    expect(await whole.put('acme/money', `${capped(900)}rules: []\n`)).toMatchObject({ width: 'unbound', version: 2 });
    expect(await capOf(gateway)).toBe('5.00');
    await whole.put('acme/money', capped(3));
    expect(await capOf(gateway)).toBe('3.00');
    expect((await whole.rollback('acme/money', 1)).status).toBe(200);
    expect(await capOf(gateway)).toBe('5.00');
    expect((await acme.tryPut('money', capped(1))).body).toMatchObject({ code: 'imposed_by_wider' });
    await using again = await gateway.restart('SIGKILL');
    expect(await capOf(again)).toBe('5.00');
    await new Policies(again).put('vip', capped(800));
    expect(await capOf(again)).toBe('800.00');
  });

  test('does not look at what everybody has spent, whoever writes it', async () => {
    await using gateway = await TestGateway.start({ policies });
    const acme = new Policies(gateway, (await makeKey(gateway, tenant)).key);
    const whole = new Policies(gateway);
    await acme.put('money', capped(1));
    const source = 'scope: org:acme\nrules:\n  - {effect: deny, tools: [x], when: "spend.global.day_usd > 1.0"}\n';
    expect((await whole.tryPut('acme/money', source)).body).toMatchObject({ status: 422, code: 'policy_invalid' });
    expect((await whole.validate(source, 'acme/money')).body).toMatchObject({ valid: false });
    expect(await whole.put('spend', source)).toMatchObject({ width: 'unbound' });
  });

  test('that the operator has edited is not replaced by what the tenant tries out', async () => {
    await using gateway = await TestGateway.start({ policies });
    const { key } = await makeKey(gateway, tenant);
    await gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
    await new Policies(gateway, key).put('tools', 'scope: org:acme\n');
    const denied = 'scope: org:acme\nrules:\n  - {name: no, effect: deny, tools: [search]}\n';
    await new Policies(gateway).put('acme/tools', denied);
    const answer = await gateway.api.post<Problem>('/api/v1/policies/simulate', key, {
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
      action_type: 'tool_call',
      context: { tool_name: 'search' },
      candidate: 'name: tools\nscope: org:acme\n',
    });
    expect(answer.body).toMatchObject({ decision: 'deny', policy_rule: 'acme/tools/no' });
  });
});

describe.each(durableStores)('a document that was stored on $name before widths were', ({ open }) => {
  const record = (id: string) =>
    JSON.stringify({ savedAt: 1_700_000_000_000, savedBy: { id, kind: 'api_key', label: 'it' }, note: '' });

  test('is its tenant’s where the key that saved it is: it raises nothing, and the tenant changes it', async () => {
    await using store = await open();
    const before = await store.start({ policies });
    await before.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
    const { key, id } = await makeKey(before, tenant);
    await new Policies(before).put('legacy', capped(900));
    await new Policies(before).put('unknown', 'scope: org:acme\n');
    expect(await capOf(before)).toBe('900.00');
    const { policy_version: raising } = await new Policies(before).list();
    await before.kill('SIGTERM');
    await store.change(`UPDATE policy_versions SET record = '${record(id)}' WHERE name = 'legacy'`);
    await store.change(`UPDATE policy_versions SET record = '${record('abcdefghijkm')}' WHERE name = 'unknown'`);
    const after = await store.start({ policies });
    expect(await capOf(after)).toBe('5.00');
    // The texts are the same, but their effect is not.
    expect((await new Policies(after).list()).policy_version).not.toBe(raising);
    const acme = new Policies(after, key);
    expect(await acme.put('legacy', capped(2))).toMatchObject({ name: 'legacy', version: 2, width: 'org' });
    expect(await capOf(after)).toBe('2.00');
    expect((await acme.tryPut('unknown', 'scope: org:acme\n')).body).toMatchObject({ code: 'imposed_by_wider' });
  });
});

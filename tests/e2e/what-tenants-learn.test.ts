import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

/** Amounts that occur nowhere else: a global cap of 77.70, of which others have spent 41.30. */
const base = [
  'name: base',
  'default: allow',
  'budget: {daily_limit_usd: 77.7, org_daily_limit_usd: 60, timezone: UTC}',
  'rules:',
  '  - {name: late, effect: deny, tools: [late], when: "spend.global.day_usd + action.cost_usd > 50.0"}',
  '',
].join('\n');
/** Matches whole numbers only, because a hash may contain such digits. */
const amounts = /(?<!\w)(?:77\.7\d*|41\.3\d*|36\.4\d*|777\d*|413\d+|364\d+)(?!\w)/;

interface Simulated {
  readonly decision: string;
  readonly reason: string;
  readonly policy_rule: string;
}

describe('what everybody spends together', () => {
  let gateway: TestGateway;
  let acmeKey: string;
  let bot: Registered;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'base.yaml': base } });
    acmeKey = (await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' })).key;
    const other = await gateway.register({ orgId: 'umbrella', teamId: 't', agentId: 'other' });
    bot = await gateway.register({ orgId: 'acme', teamId: 'web', agentId: 'bot' });
    expect(await gateway.check(other, { estimatedCostMicros: 41_300_000 })).toMatchObject({ decision: 1 });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const simulate = async (usd: number, bearer: string, members: object = {}) => {
    const { body, status, text } = await gateway.api.post<Simulated & Problem>('/api/v1/policies/simulate', bearer, {
      agent: { org_id: 'acme', team_id: 'web', agent_id: 'bot' },
      action_type: 'tool_call',
      context: { tool_name: 'search' },
      estimated_cost_micros: Math.round(usd * 1_000_000),
      ...members,
    });
    return { ...body, status, text };
  };

  test('is told neither to an agent of an org that it refuses, nor in the entry that the org reads', async () => {
    const socket = await EventSocket.open(gateway.http, { bearer: acmeKey, query: {} });
    const refused = await gateway.check(bot, { estimatedCostMicros: 50_000_000 });
    expect(refused).toMatchObject({
      decision: 2,
      policyRule: 'budget/global.day',
      limit: { tier: 'global', period: 'day', limitMicros: 0, spentMicros: 0, status: 'LimitExceeded' },
    });
    expect(refused.reason).toMatch(/^50\.00 USD would pass the global cap of the day, which ends /);
    await eventually(() => expect(socket.messages.some(({ event_type }) => event_type === 'decision')).toBe(true));
    expect(JSON.stringify(socket.messages)).not.toMatch(amounts);
    socket.socket.close();
    const id = encodeURIComponent(refused.opId);
    const paths = [
      `/api/v1/decisions/${id}/explain`,
      `/api/v1/ops/${id}`,
      '/api/v1/logs',
      '/api/v1/logs/export',
      '/api/v1/budgets',
      '/api/v1/approvals',
      '/api/v1/stats/decisions',
      '/api/v1/topology/overview',
    ];
    for (const path of paths) {
      const { text } = await gateway.api.get(path, acmeKey);
      expect(text, path).not.toMatch(amounts);
    }
    const { body } = await gateway.api.get<{ items: object[] }>('/api/v1/budgets?tier=global&period=day', bootstrapKey);
    expect(body.items).toMatchObject([{ limit_usd: '77.70', reserved_usd: '41.30' }]);
  });

  test('cannot be found by simulating ever other costs', async () => {
    for (const usd of [1, 36, 37, 60]) {
      expect(await simulate(usd, acmeKey)).toMatchObject({ decision: 'allow', policy_rule: 'default' });
    }
    expect(await simulate(60.01, acmeKey)).toMatchObject({ decision: 'deny', policy_rule: 'budget/org.day' });
    expect(await simulate(37, bootstrapKey)).toMatchObject({ decision: 'deny', policy_rule: 'budget/global.day' });
    expect((await simulate(37, bootstrapKey)).reason).toContain('36.40 USD are left');
    // Nor by an operator's condition that adds the cost to it.
    const late = { context: { tool_name: 'late' } };
    expect(await simulate(9, acmeKey, late)).toMatchObject({ decision: 'allow' });
    expect(await simulate(9, bootstrapKey, late)).toMatchObject({ decision: 'deny', policy_rule: 'base/late' });
  });

  test.each([
    'spend.global.day_usd > 1.0',
    'spend.global["day_usd"] > 1.0',
    'has(spend.global.day_usd)',
    'cel.bind(x, spend.global.month_usd, x > 2.0)',
  ])('is not for a tenant’s document or candidate to look at: %s', async (when) => {
    const source = `scope: org:acme\nrules:\n  - {name: r, effect: deny, when: '${when}'}\n`;
    const put = await new Policies(gateway, acmeKey).tryPut('peek', source);
    expect(put.body).toMatchObject({ status: 422, code: 'policy_invalid' });
    expect(put.body.errors).toMatchObject([
      { file: 'acme/peek', line: 3, message: expect.stringContaining('spend.global') },
    ]);
    expect(await simulate(1, acmeKey, { candidate: source })).toMatchObject({ status: 422, code: 'policy_invalid' });
    expect((await simulate(1, bootstrapKey, { candidate: source })).status).toBe(200);
    const tested = { candidate: source, days: 1 };
    expect((await gateway.api.post('/api/v1/policies/backtest', acmeKey, tested)).status).toBe(422);
    expect((await new Policies(gateway, acmeKey).validate(source)).body.valid).toBe(false);
  });
});

test('a tenant lowers its caps and never raises them', async () => {
  const files = {
    'base.yaml': 'name: base\ndefault: allow\nbudget: {org_daily_limit_usd: 5, team_daily_limit_usd: 4}\n',
    'vip.yaml': 'name: vip\nscope: org:acme\nbudget: {daily_limit_usd: 10}\n',
  };
  await using gateway = await TestGateway.start({ policies: files });
  const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
  const { key: teamKey } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme', team_id: 'web' });
  const [acme, web] = [new Policies(gateway, key), new Policies(gateway, teamKey)];
  const bot = await gateway.register({ orgId: 'acme', teamId: 'web', agentId: 'bot' });
  const capOf = async (tier: string) => {
    const path = `/api/v1/budgets?tier=${tier}&period=day`;
    return (await gateway.api.get<{ items: { limit_usd: string | null }[] }>(path, key)).body.items[0]?.limit_usd;
  };
  expect([await capOf('org'), await capOf('team'), await capOf('agent')]).toEqual(['10.00', '4.00', null]);
  await acme.put('money', 'scope: org:acme\nbudget: {daily_limit_usd: 1000}');
  await web.put('money', 'scope: team:acme/web\nbudget: {daily_limit_usd: 1000}');
  expect([await capOf('org'), await capOf('team')]).toEqual(['10.00', '4.00']);
  expect(await gateway.check(bot, { estimatedCostMicros: 4_500_000 })).toMatchObject({ policyRule: 'budget/team.day' });
  await acme.put('money', 'scope: org:acme\nbudget: {daily_limit_usd: 3}');
  await acme.put('web', 'scope: team:acme/web\nbudget: {daily_limit_usd: 2}');
  await web.put('agent', 'scope: agent:acme/web/bot\nbudget: {daily_limit_usd: 1}');
  expect([await capOf('org'), await capOf('team'), await capOf('agent')]).toEqual(['3.00', '2.00', '1.00']);
  expect((await acme.delete('money')).status).toBe(204);
  expect(await capOf('org')).toBe('10.00');
  expect((await acme.tryPut('vip', 'scope: org:acme')).body).toMatchObject({ status: 409, code: 'policy_in_file' });
});

test('names that a tenant chose stand in no metric and no public text', async () => {
  await using gateway = await TestGateway.start({ policies: { 'base.yaml': 'name: base\ndefault: allow\n' } });
  const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'canaryorg', label: 'canarykey' });
  const bot = await gateway.register({ orgId: 'canaryorg', teamId: 'canaryteam', agentId: 'canarybot' });
  const rules = 'rules:\n  - {name: canaryrule, effect: deny, tools: [search]}';
  await new Policies(gateway, key).put('canarydoc', `scope: org:canaryorg\nmode: observe\n${rules}`);
  expect(await gateway.check(bot, { context: toolCall('search') })).toMatchObject({ decision: 1 });
  for (const path of ['/metrics', '/readyz', '/healthz', '/openapi.json', '/api/v1/policy-schema']) {
    expect((await gateway.api.get(path)).text, path).not.toContain('canary');
  }
  expect((await gateway.api.get('/metrics')).text).toContain('reeve_policy_observed_total{effect="deny"} 1');
});

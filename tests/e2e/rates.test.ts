import type { RouteOutput, Routes } from '@reeve/contract/http';
import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { durableStores } from '../harness/stores.ts';

type Rates = RouteOutput<Routes['listRates']>;

const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' };
const policy = `
name: p
default: allow
rules:
  - { effect: deny, tools: [no] }
  - { effect: require_approval, tools: [ask] }
rates:
  - { per: org, window_secs: 3600, max: 10 }
  - { per: agent, window_secs: 3600, max: 3, actions: [tool_call], tools: ["pay*"] }
`;

async function decisions(gateway: TestGateway, agent: Registered, count: number, tool = 'x'): Promise<Decision[]> {
  const found: Decision[] = [];
  for (let at = 0; at < count; at++) {
    found.push((await gateway.check(agent, { context: toolCall(tool) })).decision);
  }
  return found;
}

const { ALLOW: allow, DENY: deny, PENDING: pending } = Decision;

test.each(durableStores)(
  'rates hold over restarts and kills, on $name',
  async ({ open }) => {
    await using store = await open();
    let gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    const bot = await gateway.register({ agentId: 'bot' });
    const mate = await gateway.register({ agentId: 'mate' });
    expect(await decisions(gateway, bot, 4, 'pay_bill')).toEqual([allow, allow, allow, deny]);
    const denied = await gateway.check(bot, { context: toolCall('pay') });
    expect(denied).toMatchObject({ decision: deny, policyRule: 'p/rate-1' });
    const roomAt = /there is room again at (\S+)$/.exec(denied.reason)?.[1] ?? '';
    expect(Date.parse(roomAt)).toBeGreaterThan(Date.now());
    expect(await decisions(gateway, mate, 3, 'no')).toEqual([deny, deny, deny]);
    expect(await decisions(gateway, mate, 1, 'ask')).toEqual([pending]);

    await gateway.kill();
    gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    expect(await decisions(gateway, bot, 1, 'pay')).toEqual([deny]);
    expect(await decisions(gateway, mate, 2)).toEqual([allow, allow]);
    expect(await gateway.kill('SIGTERM')).toBe(0);
    gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    // Four, then two, of ten.
    expect(await decisions(gateway, mate, 5)).toEqual([allow, allow, allow, allow, deny]);

    const list = async (bearer: string, query = '') =>
      (await gateway.api.get<Rates>(`/api/v1/rates${query}`, bearer)).body.items;
    expect(await list(bootstrapKey, '?tier=org')).toMatchObject([
      { rate: 'p/rate-0', org_id: 'acme', team_id: null, max: 10, count: 10, window_secs: 3600 },
    ]);
    expect(await list(bootstrapKey, '?agent_id=bot')).toMatchObject([
      { rate: 'p/rate-1', agent_id: 'bot', count: 3, tools: ['pay*'], actions: ['tool_call'] },
    ]);
    const foreign = await makeKey(gateway, { scopes: ['read'], org_id: 'umbrella' });
    expect(await list(foreign.key)).toEqual([]);
    const simulated = await gateway.api.post(`/api/v1/policies/simulate`, bootstrapKey, {
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
      action_type: 'tool_call',
      context: { tool_call: { tool_name: 'pay' } },
    });
    expect(simulated.body).toMatchObject({ decision: 'deny', policy_rule: 'p/rate-0' });
    const opId = gateway.audit().findLast(({ policy_rule: rule }) => rule === 'p/rate-0')?.op_id ?? '';
    const explained = await gateway.api.get<{ notes: string[] }>(`/api/v1/decisions/${opId}/explain`, bootstrapKey);
    expect(explained.body.notes).toContain(
      'no rule decided this: a rate did; what it had counted then is not known any more',
    );
  },
  240_000,
);

test.each(durableStores)(
  'a rate of a bound author counts within its org, and only lowers, on $name',
  async ({ open }) => {
    await using store = await open();
    const gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    const bot = await gateway.register({ agentId: 'bot' });
    const foreign = await gateway.register({ orgId: 'umbrella', agentId: 'bot' });
    const admin = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
    const put = (max: number) =>
      gateway.api.send('PUT', '/api/v1/policies/mine', {
        bearer: admin.key,
        json: { source: `scope: org:acme\nrates: [{ per: global, window_secs: 3600, max: ${max} }]\n` },
      });
    expect((await put(2)).status).toBe(200);
    expect(await decisions(gateway, bot, 3)).toEqual([allow, allow, deny]);
    expect((await gateway.check(bot, { context: toolCall('x') })).policyRule).toBe('acme/mine/rate-0');
    expect(await decisions(gateway, foreign, 3)).toEqual([allow, allow, allow]);
    expect((await put(1000)).status).toBe(200);
    expect((await decisions(gateway, bot, 9)).filter((decision) => decision === allow)).toHaveLength(8);
  },
  240_000,
);

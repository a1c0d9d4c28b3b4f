import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

interface Row {
  readonly tier: string;
  readonly period: string;
  readonly spent_usd: string;
}

const policies = { 'p.yaml': 'name: p\ndefault: allow\nbudget: { daily_limit_usd: 10 }\n' };
const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
const path = '/api/v1/budgets/correct';

describe.each(durableStores)('corrections on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let bot: Registered;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ policies });
    bot = await gateway.register({ agentId: 'bot' });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const correct = (body: object, key = bootstrapKey) => gateway.api.post<{ items: Row[] }>(path, key, body);
  const spent = async () => {
    const { body } = await gateway.api.get<{ items: Row[] }>('/api/v1/budgets', bootstrapKey);
    return Object.fromEntries(body.items.map(({ tier, period, spent_usd: usd }) => [`${tier}.${period}`, usd]));
  };
  const everywhere = (usd: string) =>
    Object.fromEntries(
      ['global', 'org', 'team', 'agent'].flatMap((tier) => [
        [`${tier}.month`, usd],
        [`${tier}.day`, usd],
      ]),
    );

  test('change what is settled, are told and on record, and survive a kill', { timeout: 240_000 }, async () => {
    const { opId } = await gateway.check(bot, { estimatedCostMicros: 5_000_000 });
    await gateway.complete(bot, opId, { actualCostMicros: 9_000_000 });
    const socket = await EventSocket.open(gateway.http, { query: { types: 'budget' } });
    const { status, body } = await correct({ agent, amount_usd: '-1.50', reason: 'a typing error' });
    expect(status).toBe(200);
    expect(body.items).toHaveLength(8);
    for (const item of body.items) expect(item.spent_usd).toBe('7.50');
    const [event] = await socket.received(8);
    expect(event).toMatchObject({ event_type: 'budget', payload: { change: 'corrected', tier: 'global' } });
    socket.close();
    expect((await correct({ org_id: 'acme', amount_usd: '0.25', reason: 'a bill' })).body.items).toHaveLength(4);
    expect((await correct({ org_id: 'acme', team_id: 'core', amount_usd: '-0.25', reason: 'x' })).status).toBe(200);
    const expected = { ...everywhere('7.50'), 'team.month': '7.25', 'team.day': '7.25' };
    await gateway.kill('SIGKILL');
    gateway = await store.start({ policies });
    expect(await spent()).toEqual(expected);
    const { body: verified } = await gateway.api.get('/api/v1/budgets/verify', bootstrapKey);
    expect(verified).toMatchObject({ consistent: true, differences: [] });
    const { body: logs } = await gateway.api.get<{ items: object[] }>(
      '/api/v1/logs?event_type=BudgetCorrected',
      bootstrapKey,
    );
    expect(logs.items.at(-1)).toMatchObject({
      reason: 'a typing error',
      actor: { kind: 'api_key' },
      lineage: agent,
      payload: { tier: 'agent', amount_micros: -1_500_000, day_amount_micros: -1_500_000 },
    });
  });

  test('are not for credentials that are bound to a tenant, nor for those without admin', async () => {
    const body = { agent, amount_usd: '-1.00', reason: 'give me more' };
    const { key: bound } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
    const { key: writer } = await makeKey(gateway, { scopes: ['read', 'write'] });
    const [first, second] = [await correct(body, bound), await correct(body, writer)];
    expect([first.status, first.body]).toMatchObject([403, { code: 'tenant_bound' }]);
    expect([second.status, second.body]).toMatchObject([403, { code: 'insufficient_scope' }]);
  });

  test.each<[string, number, object]>([
    ['nobody', 422, { amount_usd: '1.00', reason: 'x' }],
    ['two', 422, { agent, org_id: 'acme', amount_usd: '1.00', reason: 'x' }],
    ['a team without an org', 422, { agent, team_id: 'core', amount_usd: '1.00', reason: 'x' }],
    ['no reason', 422, { agent, amount_usd: '1.00', reason: '' }],
    ['a number', 422, { agent, amount_usd: 1, reason: 'x' }],
    ['nothing', 422, { agent, amount_usd: '0.00', reason: 'x' }],
    ['more than was settled', 422, { agent, amount_usd: '-1000.00', reason: 'x' }],
    ['too much', 422, { agent, amount_usd: '1000000000000', reason: 'x' }],
    ['an agent that nobody knows', 404, { agent: { ...agent, agent_id: 'who' }, amount_usd: '1', reason: 'x' }],
    ['an org that nobody knows', 404, { org_id: 'who', amount_usd: '1', reason: 'x' }],
  ])('of %s are refused with %i, and change nothing', async (_, status, body) => {
    const before = await spent();
    expect((await correct(body)).status).toBe(status);
    expect(await spent()).toEqual(before);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores, sqliteStore } from '../harness/stores.ts';

interface BudgetJson {
  readonly tier: string;
  readonly org_id: string | null;
  readonly team_id: string | null;
  readonly agent_id: string | null;
  readonly period: string;
  readonly limit_usd: string | null;
  readonly spent_usd: string;
  readonly reserved_usd: string;
  readonly resets_at: string;
}

interface Budgets {
  readonly items: readonly BudgetJson[];
  readonly total: number;
}

const allow = 1;
const deny = 2;
const policy = `
name: money
default: allow
budget:
  daily_limit_usd: 100
  org_daily_limit_usd: 1
  agent_monthly_limit_usd: 50
  timezone: Europe/Berlin
pricing:
  gpt-*: { input_per_mtok_usd: 10, output_per_mtok_usd: 30 }
---
name: rich
scope: org:rich
budget: { daily_limit_usd: 10 }
`;

describe.each(durableStores)('budgets on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let bot: Registered;
  const options = { policies: { 'money.yaml': policy } };
  beforeAll(async () => {
    store = await open();
    gateway = await store.start(options);
    bot = await gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const budgets = async (query = '', key = bootstrapKey) =>
    (await gateway.api.get<Budgets>(`/api/v1/budgets${query}`, key)).body;
  const row = async (tier: string, period: string, query = '') =>
    (await budgets(query)).items.find((item) => item.tier === tier && item.period === period);

  test('a check reserves, completion settles, and a charge past the cap is refused with the cap', async () => {
    const first = await gateway.check(bot, { estimatedCostMicros: 600_000 });
    expect(first.decision).toBe(allow);
    expect(await row('org', 'day', '?org_id=acme')).toMatchObject({
      limit_usd: '1.00',
      spent_usd: '0.00',
      reserved_usd: '0.60',
    });
    const refused = await gateway.check(bot, { estimatedCostMicros: 400_001 });
    expect(refused).toMatchObject({
      decision: deny,
      policyRule: 'budget/org.day',
      opState: 'terminated',
      limit: { tier: 'org', period: 'day', limitMicros: 1_000_000, spentMicros: 600_000, status: 'LimitExceeded' },
    });
    await gateway.complete(bot, first.opId, { actualCostMicros: 250_000 });
    expect(await row('org', 'day', '?org_id=acme')).toMatchObject({ spent_usd: '0.25', reserved_usd: '0.00' });
    const { body } = await gateway.api.get<{ items: { decision: string; payload: object }[] }>(
      '/api/v1/logs?event_type=BudgetLimitExceeded',
      bootstrapKey,
    );
    expect(body.items[0]).toMatchObject({ decision: 'deny', payload: { limit: { status: 'LimitExceeded' } } });
  });

  test('an org’s own cap stands in place of the uniform one, and another org is not touched', async () => {
    const rich = await gateway.register({ orgId: 'rich', teamId: 'core', agentId: 'bot' });
    expect((await gateway.check(rich, { estimatedCostMicros: 9_000_000 })).decision).toBe(allow);
    expect((await gateway.check(rich, { estimatedCostMicros: 1_000_001 })).policyRule).toBe('budget/org.day');
    expect((await gateway.check(bot, { estimatedCostMicros: 100 })).decision).toBe(allow);
  });

  test('a negative cost is refused as malformed', async () => {
    await expect(gateway.check(bot, { estimatedCostMicros: -1 })).rejects.toMatchObject({ code: 3 });
  });

  test('a tenant sees its own rows and never the global one; days reset at local midnight', async () => {
    const { body } = await gateway.api.post<{ key: string }>('/api/v1/iam/api-keys', bootstrapKey, {
      label: 'tenant',
      scopes: ['read'],
      org_id: 'acme',
    });
    const all = await budgets();
    expect(all.items.map(({ tier, org_id }) => `${tier} ${org_id}`)).toContain('global null');
    const own = await budgets('', body.key);
    expect(new Set(own.items.map(({ org_id }) => org_id))).toEqual(new Set(['acme']));
    expect(own.items.map(({ tier, period }) => `${tier}.${period}`)).toEqual([
      'org.month',
      'org.day',
      'team.month',
      'team.day',
      'agent.month',
      'agent.day',
    ]);
    expect(await budgets('?org_id=rich', body.key)).toMatchObject({ items: [], total: 0 });
    const berlin = new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' });
    expect(berlin.format(new Date(own.items[1]?.resets_at ?? ''))).toBe('00:00');
  });

  test('are narrowed by tier and period, with totals to match', async () => {
    const find = async (query: string) => {
      const { items, total } = await budgets(query);
      expect(total).toBe(items.length);
      return items.map(({ tier, org_id, period }) => `${tier} ${org_id} ${period}`);
    };
    expect(await find('?tier=global')).toEqual(['global null month', 'global null day']);
    expect(await find('?tier=org&period=day')).toEqual(['org acme day', 'org rich day']);
    expect(await find('?tier=team&period=month&org_id=acme')).toEqual(['team acme month']);
    expect(await find('?tier=agent&period=day&org_id=rich&team_id=core')).toEqual(['agent rich day']);
    expect(await find('?tier=global&org_id=acme')).toEqual([]);
    expect(await gateway.api.get('/api/v1/budgets?tier=planet', bootstrapKey)).toMatchObject({ status: 422 });
  });

  test('what an agent has spent stays shown after it has deregistered, to its own tenant only', async () => {
    const gone = await gateway.register({ orgId: 'left', teamId: 'core', agentId: 'gone' });
    const { opId } = await gateway.check(gone, { estimatedCostMicros: 300_000 });
    await gateway.complete(gone, opId);
    await gateway.deregister(gone);
    const shown = (await budgets('?org_id=left')).items.filter(({ period }) => period === 'day');
    expect(shown.map(({ tier, spent_usd }) => `${tier} ${spent_usd}`)).toEqual(['org 0.30', 'team 0.30', 'agent 0.30']);
    expect((await budgets('?org_id=left&team_id=core')).total).toBe(4);
    expect((await budgets('?agent_id=gone')).total).toBe(2);
    expect((await budgets('?org_id=left&agent_id=bot')).total).toBe(0);
    const elsewhere = await makeKey(gateway, { org_id: 'acme' });
    expect(JSON.stringify(await budgets('', elsewhere.key))).not.toContain('left');
  });

  test('what was spent and what is reserved survive kill -9, in every tier', async () => {
    await using fresh = await open();
    const before = await fresh.start(options);
    const agent = await before.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
    const { opId } = await before.check(agent, { estimatedCostMicros: 100_000 });
    await before.complete(agent, opId);
    await before.check(agent, { estimatedCostMicros: 300_000 });
    await before.kill();
    const after = await fresh.start(options);
    await eventually(async () => {
      const { body } = await after.api.get<Budgets>('/api/v1/budgets', bootstrapKey);
      const days = body.items.filter(({ period }) => period === 'day');
      expect(days.map(({ tier, spent_usd, reserved_usd }) => [tier, spent_usd, reserved_usd])).toEqual(
        ['global', 'org', 'team', 'agent'].map((tier) => [tier, '0.10', '0.30']),
      );
    });
    expect((await after.check(agent, { estimatedCostMicros: 600_001 })).decision).toBe(deny);
  });
});

test.each([
  ['org_daily_limit_usd: 1', 'budget/org.day'],
  ['org_daily_limit_usd: 1, daily_limit_usd: 1', 'budget/global.day'],
  ['agent_daily_limit_usd: 1, team_monthly_limit_usd: 1', 'budget/team.month'],
  ['agent_daily_limit_usd: 1, agent_monthly_limit_usd: 1', 'budget/agent.month'],
  ['agent_daily_limit_usd: 1, org_monthly_limit_usd: 1, monthly_limit_usd: 1', 'budget/global.month'],
])('with { %s } a charge that violates all of them is refused by %s', async (limits, rule) => {
  await using store = await sqliteStore.open();
  const gateway = await store.start({ policies: { 'p.yaml': `name: p\ndefault: allow\nbudget: { ${limits} }\n` } });
  const bot = await gateway.register({ agentId: 'bot' });
  const { policyRule, reason } = await gateway.check(bot, { estimatedCostMicros: 1_000_001 });
  expect(policyRule).toBe(rule);
  // An agent of an org does not learn what everybody may spend together.
  const told = rule.includes('global')
    ? / would pass the global cap of the (?:day|month), which ends /
    : / would pass the (?:org's|team's|agent's) cap of 1\.00 USD a (?:day|month); /;
  expect(reason).toMatch(told);
  expect((await gateway.check(bot, { estimatedCostMicros: 1_000_000 })).decision).toBe(allow);
});

import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from './verify-budgets.ts';
import { correctBudget } from './correct-budget.ts';
import { usdOfMicros } from '../kernel/money.ts';
import { tiersOf } from './tier.ts';

const dayMs = 86_400_000;
const policy = 'name: p\ndefault: allow\nbudget: { org_daily_limit_usd: 10, monthly_limit_usd: 1000 }\n';
let store: MemoryStore;
let g: TestGovernance;
let bot: TestAgent;
let other: TestAgent;

beforeEach(start);

async function start(): Promise<void> {
  store = new MemoryStore();
  g = await testGovernance({ store });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
  other = await g.register(agentId('acme/ops/bot'));
}

async function settle(micros: number, agent = bot): Promise<void> {
  const { opId } = await g.check(agent);
  await g.complete(agent, opId, { actualCostMicros: micros });
}

const correct = (amountUsd: string, name = 'acme/search/bot', reason = 'a mistake', by = operator) => {
  const named = agentId(name);
  const of = named.agentId === '' ? { orgId: named.orgId, teamId: named.teamId } : { agent: named };
  return g.settle(correctBudget(g.gov, by, { ...of, amountUsd, reason }));
};
/** What is settled today in each tier of an agent. */
const days = (agent = bot) => tiersOf(agent.id).map((of) => g.gov.ledger.read(of).spent.day);
const months = (agent = bot) => tiersOf(agent.id).map((of) => g.gov.ledger.read(of).spent.month);
const verified = async () => (await verifyBudgets(g.gov, operator, store)).differences;

async function crash(): Promise<void> {
  g = await g.crash();
  await g.policies(policy);
}

describe('a correction', () => {
  test('changes the day and the month, in the tier and all above it, and nowhere else', async () => {
    await settle(5_000_000);
    await settle(1_000_000, other);
    const rows = await correct('-1.50');
    expect(days()).toEqual([4_500_000, 4_500_000, 3_500_000, 3_500_000]);
    expect(months()).toEqual(days());
    expect(days(other).slice(2)).toEqual([1_000_000, 1_000_000]);
    expect(rows.map(({ of, period, spentMicros }) => [of.tier, period, spentMicros])).toEqual([
      ['global', 'month', 4_500_000],
      ['global', 'day', 4_500_000],
      ['org', 'month', 4_500_000],
      ['org', 'day', 4_500_000],
      ['team', 'month', 3_500_000],
      ['team', 'day', 3_500_000],
      ['agent', 'month', 3_500_000],
      ['agent', 'day', 3_500_000],
    ]);
    await correct('-0.25', 'acme/search/');
    await correct('+0.125', 'acme//');
    expect(days()).toEqual([4_375_000, 4_375_000, 3_250_000, 3_500_000]);
    expect(await verified()).toEqual([]);
  });

  test('is on record, with who, why, how much and when, and told to live views', async () => {
    await settle(5_000_000);
    const published = g.events.length;
    await correct('-1.50');
    const entry = (await g.audit()).find(({ event_type: type }) => type === 'BudgetCorrected');
    expect(entry).toMatchObject({
      actor: operator.actor,
      reason: 'a mistake',
      lineage: { org_id: 'acme', team_id: 'search', agent_id: 'bot' },
      payload: { tier: 'agent', amount_micros: -1_500_000, day_amount_micros: -1_500_000, booked: '2023-11-14' },
    });
    const told = g.events.slice(published);
    expect(told).toHaveLength(8);
    expect(told[2]).toMatchObject({
      type: 'budget',
      change: 'corrected',
      of: { tier: 'org', orgId: 'acme' },
      period: 'month',
      percent: null,
      limitMicros: null,
      totalMicros: 3_500_000,
    });
  });

  test.each([false, true])('survives the end of the process; saved before: %s', async (isSaved) => {
    await settle(5_000_000);
    await correct('-1.50');
    if (isSaved) while (g.balance?.save() === true) g.turn();
    g.turn();
    await crash();
    expect(days()).toEqual([3_500_000, 3_500_000, 3_500_000, 3_500_000]);
    expect(await verified()).toEqual([]);
  });

  test('that cannot be made durable never was', async () => {
    await settle(5_000_000);
    g.failure = new Error('the disk is full');
    await expect(correct('-1.50')).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(days()).toEqual([5_000_000, 5_000_000, 5_000_000, 5_000_000]);
    expect(await verified()).toEqual([]);
  });

  test('of another day of the month counts for the month alone', async () => {
    await settle(5_000_000);
    g.clock.advance(dayMs);
    await settle(1_000_000);
    await correct('-4.50');
    expect([days(), months()]).toEqual([
      [0, 0, 0, 0],
      [1_500_000, 1_500_000, 1_500_000, 1_500_000],
    ]);
    const entry = (await g.audit()).find(({ event_type: type }) => type === 'BudgetCorrected');
    expect(entry?.payload).toMatchObject({ amount_micros: -4_500_000, day_amount_micros: -1_000_000 });
    await crash();
    expect([days()[0], months()[0]]).toEqual([0, 1_500_000]);
    expect(await verified()).toEqual([]);
  });

  test('makes room under a cap, and uses it up, of which somebody is told', async () => {
    await settle(10_000_000);
    expect((await g.check(bot, { estimatedCostMicros: 1 })).decision).toBe('deny');
    await correct('-9.00');
    expect((await g.check(bot, { estimatedCostMicros: 1 })).decision).toBe('allow');
    await correct('899.00');
    const told = g.events.filter((event) => event.type === 'budget' && event.change === 'approached');
    expect(told).toMatchObject([
      { of: { tier: 'org' }, percent: 80 },
      { of: { tier: 'org' }, percent: 95 },
      { of: { tier: 'global' }, period: 'month', percent: 80 },
    ]);
    await crash();
    expect(await verified()).toEqual([]);
  });

  test('of sums beyond 2^53 is exact', async () => {
    await correct('999999999999.999999');
    await correct('999999999999.999999');
    await correct('-0.000001');
    expect(usdOfMicros(months()[0] ?? 0)).toBe('1999999999999.999997');
    await crash();
    expect(usdOfMicros(months()[0] ?? 0)).toBe('1999999999999.999997');
    expect(await verified()).toEqual([]);
  });
});

describe('is refused', () => {
  test.each(['0', '-0.00', '1e3', '', '1.2345678', 'much'])('an amount of "%s"', async (amount) => {
    await expect(correct(amount)).rejects.toMatchObject({
      code: 'invalid_argument',
      facts: { field: 'amount_usd' },
    });
  });

  test('what would take a month below nothing, in whichever tier, and nothing changes', async () => {
    await settle(5_000_000);
    await settle(1_000_000, other);
    await expect(correct('-1.000001', 'acme/ops/bot')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'amount_usd: must take off at most the 1.00 USD that were settled this month',
    });
    expect(days()).toEqual([6_000_000, 6_000_000, 5_000_000, 5_000_000]);
    expect((await g.audit()).some(({ event_type: type }) => type === 'BudgetCorrected')).toBe(false);
  });

  test.each([
    ['acme/search/nobody', 'agent_not_found'],
    ['acme/nobody/', 'team_not_found'],
    ['nobody//', 'agent_not_found'],
  ])('%s, whom nobody knows', async (name, code) => {
    await expect(correct('1.00', name)).rejects.toMatchObject({ code });
  });

  test('no reason, nobody, and whoever may not', async () => {
    await expect(correct('1.00', 'acme//', ' ')).rejects.toMatchObject({ facts: { field: 'reason' } });
    await expect(correct('1.00', '//')).rejects.toMatchObject({ facts: { field: 'org_id' } });
    const [bound, writer] = [
      { ...operator, orgId: 'acme' },
      { ...operator, scopes: ['write' as const] },
    ];
    await expect(correct('1.00', 'acme//', 'why', bound)).rejects.toMatchObject({ code: 'tenant_bound' });
    await expect(correct('1.00', 'acme//', 'why', writer)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });
});

test('an agent that has left can still be corrected this month', async () => {
  await settle(5_000_000);
  await g.deregister(bot);
  await correct('-5.00');
  expect(days()).toEqual([0, 0, 0, 0]);
});

test('over any sequence of costs, corrections, days and crashes, nothing falls below nothing and the log adds up', async () => {
  const usd = 1_000_000;
  const someStep = fc.oneof(
    // Often the same amounts, so that balances become exactly nothing.
    fc.record({
      settle: fc.oneof(fc.constantFrom(usd, 2 * usd), fc.integer({ min: 0, max: 3 * usd })),
      bot: fc.boolean(),
    }),
    fc.record({
      correct: fc.oneof(fc.constantFrom(-usd, -2 * usd), fc.integer({ min: -4 * usd, max: 2 * usd })),
      of: fc.constantFrom('acme/search/bot', 'acme/ops/bot', 'acme/ops/', 'acme//'),
    }),
    fc.record({ hours: fc.constantFrom(1, 13, 24) }),
    fc.constantFrom('crash' as const, 'save' as const, 'save' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 40 }), async (steps) => {
      await start();
      for (const step of steps) {
        if (step === 'crash') await crash();
        else if (step === 'save') {
          g.balance?.save(2);
          g.turn();
        } else if ('hours' in step) g.clock.advance(step.hours * 3_600_000);
        else if ('settle' in step) await settle(step.settle, step.bot ? bot : other);
        else await correct(usdOfMicros(step.correct), step.of).catch(() => undefined);
        for (const agent of [bot, other]) {
          for (const total of [...days(agent), ...months(agent)]) expect(total >= 0).toBe(true);
        }
        expect(await verified()).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

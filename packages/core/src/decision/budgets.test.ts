import { beforeEach, describe, expect, test } from 'vitest';
import { mostOpenApprovals } from '../approvals/request-approval.ts';
import { operator, useTool, agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { tiersOf } from '../budget/tier.ts';
import { action } from '../action/action.ts';
import { controlOp } from '../testkit/commands.ts';

let world: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  world = await testGovernance();
  bot = await world.register(agentId('acme/search/bot'));
});

const policy = (budget: string, more = '') => world.policies(`name: p\ndefault: allow\nbudget: ${budget}\n${more}`);
const spend = (estimatedCostMicros: number, agent = bot) =>
  world.check(agent, { estimatedCostMicros, action: useTool('search') });
const balance = (tier: number, agent = bot) => {
  const of = tiersOf(agent.id)[tier];
  if (of === undefined) throw new Error('there is no such tier');
  const { reserved, spent } = world.gov.ledger.read(of);
  return { reserved, day: spent.day, month: spent.month };
};

describe('a check', () => {
  test('holds its cost back in all four tiers, and completion settles the actual cost in all', async () => {
    await policy('{ daily_limit_usd: 1 }');
    const { opId } = await spend(400_000);
    for (const tier of [0, 1, 2, 3]) expect(balance(tier)).toEqual({ reserved: 400_000, day: 0, month: 0 });
    await world.complete(bot, opId, { actualCostMicros: 100_000 });
    for (const tier of [0, 1, 2, 3]) expect(balance(tier)).toEqual({ reserved: 0, day: 100_000, month: 100_000 });
  });

  test('that would pass a cap is denied, with the cap, and leaves a terminated operation and no reservation', async () => {
    await policy('{ org_daily_limit_usd: 1 }');
    await spend(600_000);
    const refused = await spend(400_001);
    expect(refused).toMatchObject({
      decision: 'deny',
      policyRule: 'budget/org.day',
      opState: 'terminated',
      limit: { tier: 'org', period: 'day', limitMicros: 1_000_000, totalMicros: 600_000 },
    });
    expect(refused.reason).toContain('0.40 USD are left');
    expect(balance(1).reserved).toBe(600_000);
    expect((await spend(400_000)).decision).toBe('allow');
  });

  test('that is refused is one entry, BudgetLimitExceeded, and one budget event', async () => {
    await policy('{ daily_limit_usd: 0.1 }');
    world.events.length = 0;
    const before = (await world.audit()).length;
    await spend(200_000);
    const entries = (await world.audit()).slice(before);
    expect(entries.map((entry) => [entry.event_type, entry.decision, entry.policy_rule])).toEqual([
      ['BudgetLimitExceeded', 'deny', 'budget/global.day'],
    ]);
    // The org reads this entry, and global spend is not its business.
    expect(entries[0]?.payload).toMatchObject({
      limit: { limit_micros: 0, period: 'day', spent_micros: 0, status: 'LimitExceeded', tier: 'global' },
    });
    expect(world.events.filter(({ type }) => type === 'budget')).toMatchObject([{ change: 'exceeded' }]);
  });

  test('that is denied by policy costs nothing', async () => {
    await policy('{ daily_limit_usd: 1 }', 'rules: [{ name: no, effect: deny, tools: [search] }]');
    expect((await spend(900_000)).policyRule).toBe('p/no');
    expect(balance(0).reserved).toBe(0);
  });

  test('that is asked again is charged once', async () => {
    await policy('{ daily_limit_usd: 1 }');
    const again = { traceId: 't', spanId: 's', estimatedCostMicros: 600_000 };
    for (let time = 0; time < 3; time++) expect((await world.check(bot, again)).decision).toBe('allow');
    expect(balance(0).reserved).toBe(600_000);
  });

  test('of a thousand at once against one cap never passes it', async () => {
    await policy('{ agent_daily_limit_usd: 1 }');
    const answers = Array.from({ length: 1000 }, () => spend(3000));
    const decisions = await Promise.all(answers);
    expect(decisions.filter(({ decision }) => decision === 'allow')).toHaveLength(333);
    expect(balance(3).reserved).toBe(999_000);
  });
});

describe('a reservation', () => {
  test('is released when the operation is terminated, or its agent leaves', async () => {
    await policy('{ daily_limit_usd: 1 }');
    const { opId } = await spend(300_000);
    await spend(300_000);
    const op = world.opsOf(bot.id).get(opId);
    if (op === undefined) throw new Error('the operation is not known');
    await world.settle(controlOp(world.gov, operator, op, 'terminate', ''));
    expect(balance(0).reserved).toBe(300_000);
    await world.deregister(bot);
    expect(balance(0)).toEqual({ reserved: 0, day: 0, month: 0 });
  });

  test('that could not be made durable is taken back', async () => {
    await policy('{ daily_limit_usd: 1 }');
    world.failure = new Error('the disk is full');
    await expect(spend(300_000)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(balance(0).reserved).toBe(0);
    world.failure = undefined;
    const { opId } = await spend(300_000);
    world.failure = new Error('the disk is full');
    await expect(world.complete(bot, opId, { actualCostMicros: 1 })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(balance(0)).toEqual({ reserved: 300_000, day: 0, month: 0 });
  });

  test('comes back after a crash, in all tiers', async () => {
    await policy('{ daily_limit_usd: 1 }');
    await spend(300_000);
    world = await world.crash();
    for (const tier of [0, 1, 2, 3]) expect(balance(tier).reserved).toBe(300_000);
  });
});

describe('what was spent', () => {
  const settle = async (micros: number) => {
    const { opId } = await spend(micros);
    await world.complete(bot, opId);
  };

  test('survives a crash in every tier, whether it was saved before, after, or never', async () => {
    await policy('{ daily_limit_usd: 100 }');
    await settle(100);
    world = await world.crash();
    await settle(20);
    world.balance?.save();
    world.turn();
    await settle(3);
    world = await world.crash();
    for (const tier of [0, 1, 2, 3]) expect(balance(tier)).toEqual({ reserved: 0, day: 123, month: 123 });
    world = await world.crash();
    expect(balance(0).day).toBe(123);
  });

  test('is saved again where the store did not take it', async () => {
    await policy('{ daily_limit_usd: 100 }');
    await settle(100);
    world.failure = new Error('the disk is full');
    world.balance?.save();
    world.turn();
    world.failure = undefined;
    world.balance?.save();
    world.turn();
    expect(world.balance?.neededFrom).toBe(world.gov.journal.head.seq);
    world = await world.crash();
    expect(balance(0).day).toBe(100);
  });

  test('is saved in the end although others spend all the time, and a restart reads only what came after the save began', async () => {
    await policy('{ daily_limit_usd: 100 }');
    await settle(100);
    const begun = world.gov.journal.head.seq;
    let spent = 100;
    for (let steps = 1; world.balance?.save(1) === true; steps++) {
      expect(steps).toBeLessThan(20);
      world.turn();
      await settle(1);
      spent++;
    }
    world.turn();
    expect(world.balance?.neededFrom).toBe(begun);
    world = await world.crash();
    for (const tier of [0, 1, 2, 3]) expect(balance(tier)).toEqual({ reserved: 0, day: spent, month: spent });
  });

  test('of yesterday is not today’s after a crash, and what was told is not told again', async () => {
    await policy('{ daily_limit_usd: 1, monthly_limit_usd: 10 }');
    await settle(850_000);
    world.balance?.save();
    world.turn();
    world = await world.crash();
    await policy('{ daily_limit_usd: 1, monthly_limit_usd: 10 }');
    world.events.length = 0;
    await settle(10_000);
    expect(world.events.filter(({ type }) => type === 'budget')).toEqual([]);
    world.clock.advance(86_400_000);
    world = await world.crash();
    expect(balance(0)).toEqual({ reserved: 0, day: 0, month: 860_000 });
  });
});

describe('an actual cost above what was reserved', () => {
  test('is booked in full, and the next charge is refused', async () => {
    await policy('{ agent_daily_limit_usd: 1 }');
    const { opId } = await spend(10);
    await world.complete(bot, opId, { actualCostMicros: 5_000_000 });
    expect(balance(3).day).toBe(5_000_000);
    expect((await spend(1)).limit).toMatchObject({ tier: 'agent', totalMicros: 5_000_000 });
    expect((await spend(0)).decision).toBe('allow');
  });
});

describe('prices', () => {
  const call = (model: string, promptTokens: number, maxOutputTokens: number) =>
    world.check(bot, { action: action('llm_call', { model, promptTokens, maxOutputTokens }) });
  const prices = `pricing:
  gpt-large: { input_per_mtok_usd: 10, output_per_mtok_usd: 30 }
  gpt-*: { input_per_mtok_usd: 1, output_per_mtok_usd: 2 }
`;

  test('make the cost of a call of a model, the first that fits, rounded up', async () => {
    await policy('{ daily_limit_usd: 100 }', prices);
    await call('gpt-large', 1000, 1000);
    expect(balance(0).reserved).toBe(40_000);
    await call('gpt-small', 1, 0);
    expect(balance(0).reserved).toBe(40_001);
  });

  test('are the least that is held back, and give way to an estimate that is higher', async () => {
    await policy('{ daily_limit_usd: 100 }', prices);
    const large = action('llm_call', { model: 'gpt-large', promptTokens: 1_000_000, maxOutputTokens: 0 });
    await world.check(bot, { action: large, estimatedCostMicros: 7 });
    expect(balance(0).reserved).toBe(10_000_000);
    await world.check(bot, { action: large, estimatedCostMicros: 10_000_007 });
    expect(balance(0).reserved).toBe(20_000_007);
  });

  test.each([
    ['zero', 'allow', 0],
    ['worst', 'allow', 40_000],
    ['deny', 'deny', 0],
  ])('of an unknown model with unknown_price %s', async (choice, decision, reserved) => {
    await policy('{ daily_limit_usd: 100 }', `${prices}  unknown_price: ${choice}\n`);
    const answer = await call('llama', 1000, 1000);
    expect([answer.decision, balance(0).reserved]).toEqual([decision, reserved]);
    if (decision === 'deny') expect(answer).toMatchObject({ policyRule: 'budget/pricing' });
  });
});

describe('what one action may cost', () => {
  const call = (promptTokens: number) =>
    world.check(bot, { action: action('llm_call', { model: 'gpt', promptTokens, maxOutputTokens: promptTokens }) });

  test('bounds what tokens cost by the prices of policy: the call is denied, and says why', async () => {
    await policy('{}', 'pricing:\n  gpt: { input_per_mtok_usd: 1000000, output_per_mtok_usd: 1000000 }\n');
    expect(await call(500)).toMatchObject({ decision: 'allow' });
    const dear = {
      decision: 'deny',
      policyRule: 'budget/pricing',
      reason:
        'by the price of the model "gpt" this call costs 1002.00 USD at most, and one action may cost 1000.00 USD; ' +
        'ask for fewer tokens',
    };
    expect(await call(501)).toMatchObject(dear);
    expect(balance(0).reserved).toBe(1_000_000_000);
    expect(await call(2 ** 31 - 1)).toMatchObject({
      decision: 'deny',
      reason: expect.stringContaining('4294967294.00'),
    });
  });
});

test('caps that are nearly used up are told once: an entry and an event each, the global one of no org', async () => {
  await policy('{ daily_limit_usd: 1, org_daily_limit_usd: 1 }');
  await spend(960_000);
  const entries = (await world.audit()).filter((entry) => entry.event_type === 'BudgetLimitApproached');
  expect(entries.map((entry) => [entry.payload['tier'], entry.payload['percent'], entry.lineage.org_id])).toEqual([
    ['global', 80, null],
    ['global', 95, null],
    ['org', 80, 'acme'],
    ['org', 95, 'acme'],
  ]);
  expect(world.events.filter(({ type }) => type === 'budget')).toHaveLength(4);
});

test('an org that is exhausted leaves another alone', async () => {
  const other = await world.register(agentId('globex/search/bot'));
  await policy('{ org_daily_limit_usd: 1 }');
  await spend(1_000_000);
  expect((await spend(1)).decision).toBe('deny');
  expect((await spend(1_000_000, other)).decision).toBe('allow');
});

test('a charge past a cap, of an agent with too many open approvals, counts under the tier of the verdict', async () => {
  await policy(
    '{ org_daily_limit_usd: 1, action_on_exceed: require_approval }',
    'rules: [{ name: ask, effect: require_approval, tools: [shell] }]\n',
  );
  for (let index = 0; index < mostOpenApprovals; index++) {
    await world.check(bot, { traceId: `t${index}`, spanId: 's', action: useTool('shell') });
  }
  expect(await spend(2_000_000)).toMatchObject({ decision: 'deny', policyRule: 'budget/org.day', tier: 'default' });
});

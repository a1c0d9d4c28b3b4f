import { reserve, settle } from '../testkit/charges.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { person } from '../testkit/approvals.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { BudgetFilter, BudgetRow } from './read-budgets.ts';
import { listBudgets } from './read-budgets.ts';

const reader = person('reader', { scopes: ['read'] });
let world: TestGovernance;
let bot: TestAgent;

const name = ({ of }: BudgetRow) => [of.tier, of.orgId, of.teamId, of.agentId].filter((part) => part !== '').join(' ');
const list = (filter: BudgetFilter = {}, by: Principal = reader) => listBudgets(world.gov, by, filter);
const days = (filter: BudgetFilter = {}, by: Principal = reader) => list({ period: 'day', ...filter }, by).map(name);
const capped = (budget: string) => world.policies(`name: p\ndefault: allow\nbudget: ${budget}\n`);

/** The one row that the filter finds. */
function rowOf(filter: BudgetFilter): BudgetRow {
  const [row, ...others] = list(filter);
  if (row === undefined || others.length > 0) throw new Error('there is not one row');
  return row;
}

beforeEach(async () => {
  world = await testGovernance();
  bot = await world.register(agentId('acme/search/bot'));
  await world.register(agentId('acme/ads/bot2'));
  await world.register(agentId('umbrella/lab/rat'));
});

const acme = ['org acme', 'team acme ads', 'agent acme ads bot2', 'team acme search', 'agent acme search bot'];
const umbrella = ['org umbrella', 'team umbrella lab', 'agent umbrella lab rat'];

describe('budgets are listed', () => {
  test('everybody’s, then each org with its teams and agents, the month before the day', () => {
    expect(days()).toEqual(['global', ...acme, ...umbrella]);
    expect(list({ tier: 'global' }).map(({ period }) => period)).toEqual(['month', 'day']);
  });

  test.each<[string, BudgetFilter, string[]]>([
    ['an org', { orgId: 'acme' }, acme],
    ['a team, without the org above it', { orgId: 'acme', teamId: 'ads' }, ['team acme ads', 'agent acme ads bot2']],
    ['an agent alone', { agentId: 'rat' }, ['agent umbrella lab rat']],
    ['the tier of all', { tier: 'global' }, ['global']],
    ['the tier of orgs', { tier: 'org' }, ['org acme', 'org umbrella']],
    ['the tier of teams in an org', { tier: 'team', orgId: 'umbrella' }, ['team umbrella lab']],
    ['the tier of all in an org', { tier: 'global', orgId: 'acme' }, []],
    ['a tier that an agent is not', { tier: 'team', agentId: 'rat' }, []],
  ])('of %s', (_, filter, expected) => {
    expect(days(filter)).toEqual(expected);
  });

  test('to whoever may read, and nothing beyond the caller’s tenant', () => {
    const bound = person('x', { orgId: 'acme', scopes: ['read'] });
    expect(days({}, bound)).toEqual(acme);
    expect(days({ orgId: 'umbrella' }, bound)).toEqual([]);
    expect(days({}, { ...bound, teamId: 'ads' })).toEqual(['team acme ads', 'agent acme ads bot2']);
    expect(() => days({}, person('y', { scopes: [] }))).toThrow('scope');
  });

  test.each<[string, () => unknown]>([
    ['something held back', () => reserve(world.gov.ledger, bot.id, 5)],
    ['something spent today', () => settle(world.gov.ledger, bot.id, 0, 5)],
    [
      'something spent this month',
      () => {
        settle(world.gov.ledger, bot.id, 0, 5);
        world.clock.advance(86_400_000);
      },
    ],
  ])('of an agent that has left with %s', async (_, use) => {
    await world.deregister(bot);
    expect(days()).not.toContain('agent acme search bot');
    use();
    expect(days()).toEqual(['global', ...acme, ...umbrella]);
    expect(days({ orgId: 'umbrella' })).toEqual(umbrella);
    expect(days({ orgId: 'acme', teamId: 'ads' })).toEqual(['team acme ads', 'agent acme ads bot2']);
    expect(days({ orgId: 'acme', teamId: 'search' })).toEqual(['team acme search', 'agent acme search bot']);
    expect(days({ agentId: 'bot' })).toEqual(['agent acme search bot']);
    expect(days({ agentId: 'rat' })).toEqual(['agent umbrella lab rat']);
    expect(days({ tier: 'team', orgId: 'acme' })).toEqual(['team acme ads', 'team acme search']);
  });

  test('of which so much of a cap is used, held back or spent', async () => {
    await capped('{ agent_daily_limit_usd: 1 }');
    reserve(world.gov.ledger, bot.id, 300_000);
    settle(world.gov.ledger, bot.id, 100_000, 400_000);
    expect(list({ minPercent: 60 }).map(name)).toEqual(['agent acme search bot']);
    expect(list({ minPercent: 61 })).toEqual([]);
    expect(list({ minPercent: 0 }).map(({ period }) => period)).toEqual(['day', 'day', 'day']);
  });
});

describe('a budget tells', () => {
  test('what is spent and held back, and when it starts anew', async () => {
    await capped('{ agent_daily_limit_usd: 1 }');
    reserve(world.gov.ledger, bot.id, 300_000);
    settle(world.gov.ledger, bot.id, 100_000, 50_000);
    expect(list({ agentId: 'bot' })).toMatchObject([
      { period: 'month', limitMicros: null, spentMicros: 50_000, resetsAt: Date.parse('2023-12-01T00:00:00Z') },
      {
        period: 'day',
        limitMicros: 1_000_000,
        spentMicros: 50_000,
        reservedMicros: 200_000,
        resetsAt: Date.parse('2023-11-15T00:00:00Z'),
      },
    ]);
  });

  /** 80 000 seconds of the day are over, and 6 400 are left. */
  const today = { agentId: 'bot', period: 'day' } as const;

  test.each([
    [0, null],
    [500_000, null],
    // This rate reaches the cap in the last second. One micro less is too slow.
    [925_926, 6_399_994],
    [925_925, null],
    [950_000, 4_210_527],
    [1_000_000, 0],
    [1_200_000, 0],
  ])('of %d micros spent of a dollar, when the cap is reached at this rate: in %j ms', async (spent, wait) => {
    await capped('{ agent_daily_limit_usd: 1 }');
    settle(world.gov.ledger, bot.id, 0, spent);
    const { reachedAt } = rowOf(today);
    expect(reachedAt === null ? null : reachedAt - world.clock.now()).toBe(wait);
  });

  test('the same where part of it is held back', async () => {
    await capped('{ agent_daily_limit_usd: 1 }');
    reserve(world.gov.ledger, bot.id, 900_000);
    settle(world.gov.ledger, bot.id, 0, 50_000);
    expect(rowOf(today).reachedAt).toBe(world.clock.now() + 4_210_527);
  });

  test('no such time where there is no cap', () => {
    settle(world.gov.ledger, bot.id, 0, 950_000);
    expect(rowOf(today).reachedAt).toBeNull();
  });

  test('nor where the clock was set back before its start', async () => {
    await capped('{ agent_daily_limit_usd: 1 }');
    settle(world.gov.ledger, bot.id, 0, 950_000);
    world.clock.setWallClock(-86_400_000);
    expect(rowOf(today)).toMatchObject({ spentMicros: 950_000, reachedAt: null });
    settle(world.gov.ledger, bot.id, 0, 50_000);
    expect(rowOf(today).reachedAt).toBe(world.clock.now());
  });
});

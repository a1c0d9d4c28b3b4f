import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { closedKept } from './balance.ts';
import type { HistoryQuery } from './read-budgets.ts';
import { readHistory } from './read-budgets.ts';

const dayMs = 86_400_000;
const policy = 'name: p\ndefault: allow\nbudget: { org_daily_limit_usd: 5, timezone: Europe/Berlin }\n';
let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await testGovernance();
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
  setDate('2026-11-15T12:00:00Z');
});

function setDate(at: string): void {
  g.clock.advance(Date.parse(at) - g.clock.now());
}

async function settle(micros: number, agent = bot): Promise<void> {
  const { opId } = await g.check(agent, { estimatedCostMicros: micros });
  await g.complete(agent, opId);
}

async function save(most = 3): Promise<void> {
  while (g.balance?.save(most) === true) g.turn();
  g.turn();
  await g.gov.journal.committed().catch(() => undefined);
}

const history = (members: Partial<HistoryQuery> = {}, by: Principal = operator) =>
  readHistory(g.gov, by, g.store, { period: 'day', count: 30, ...members });
const spent = async (members: Partial<HistoryQuery> = {}, by: Principal = operator) =>
  (await history(members, by)).map(({ spentMicros }) => spentMicros);

describe('the history of a tier', () => {
  test('is its closed days and the present one, the newest last, each with its local edges and its cap', async () => {
    await settle(100);
    setDate('2026-11-16T12:00:00Z');
    await settle(20);
    await save();
    setDate('2026-11-18T12:00:00Z');
    await settle(3);
    await save();
    expect(await history({ orgId: 'acme' })).toEqual([
      {
        startsAt: Date.parse('2026-11-14T23:00:00Z'),
        endsAt: Date.parse('2026-11-15T23:00:00Z'),
        spentMicros: 100,
        limitMicros: 5_000_000,
        closed: true,
      },
      {
        startsAt: Date.parse('2026-11-15T23:00:00Z'),
        endsAt: Date.parse('2026-11-16T23:00:00Z'),
        spentMicros: 20,
        limitMicros: 5_000_000,
        closed: true,
      },
      {
        startsAt: Date.parse('2026-11-17T23:00:00Z'),
        endsAt: Date.parse('2026-11-18T23:00:00Z'),
        spentMicros: 3,
        limitMicros: 5_000_000,
        closed: false,
      },
    ]);
    expect(await spent({ orgId: 'acme', count: 2 })).toEqual([20, 3]);
    expect(await spent({ orgId: 'acme', period: 'month' })).toEqual([123]);
  });

  test('goes on over months, restarts and a store that fails', async () => {
    await settle(100);
    await save();
    g = await g.crash();
    await g.policies(policy);
    setDate('2026-12-01T12:00:00Z');
    g.failure = new Error('the disk is full');
    g.balance?.save();
    g.turn();
    g.failure = undefined;
    await settle(20);
    await save(1);
    expect(await spent()).toEqual([100, 20]);
    setDate('2027-01-31T12:00:00Z');
    await save();
    g = await g.crash();
    await g.policies(policy);
    expect(await spent()).toEqual([100, 20]);
    expect(await spent({ period: 'month' })).toEqual([100, 20]);
    // Balances stay in case the clock turns out to be ahead. They go once others have spent in later months.
    const { balances } = await g.store.load();
    expect(balances.map((row) => row.spent)).toEqual(balances.map(() => ({ day: 0, month: 0 })));
    const other = await g.register(agentId('globex//bot'));
    for (let month = 0; month < 3; month++) {
      g.clock.advance(31 * dayMs);
      await settle(1, other);
      await save();
    }
    g.clock.advance(31 * dayMs);
    await save();
    expect((await g.store.load()).balances.map(({ of }) => of.orgId)).toEqual(['', 'globex', 'globex']);
  });

  test('has a day that ended while the gateway was gone, though nothing was saved', async () => {
    await settle(100);
    g = await g.crash();
    setDate('2026-11-20T12:00:00Z');
    await g.policies(policy);
    await save();
    expect(await spent()).toEqual([100]);
  });

  test('goes back as far as days and months are kept', async () => {
    await settle(1);
    for (let step = 0; step < 3; step++) {
      g.clock.advance((closedKept.day / 2) * dayMs);
      await settle(10 + step);
      await save();
    }
    expect(await spent({ count: 400 })).toEqual([10, 11, 12]);
    g.clock.advance(61 * 31 * dayMs);
    await settle(5);
    await save();
    expect(await spent({ count: 400, period: 'month' })).toEqual([5]);
  });

  test('of nobody, and of a tier that never spent anything, is empty', async () => {
    await settle(100);
    for (const filter of [{ orgId: 'nobody' }, { orgId: '' }, { teamId: '' }, { agentId: '' }, { agentId: 'bot' }]) {
      expect(await history(filter)).toEqual([]);
    }
  });
});

describe('who asks', () => {
  const bound = (orgId: string, teamId: string | null = null): Principal => ({
    ...operator,
    scopes: ['read'],
    orgId,
    teamId,
  });

  test('sees its own tenant: an org instead of everybody, a team instead of its org', async () => {
    const other = await g.register(agentId('globex/search/bot'));
    const colleague = await g.register(agentId('acme/ops/bot'));
    await settle(100);
    await settle(20, colleague);
    await settle(3, other);
    expect(await spent()).toEqual([123]);
    expect(await spent({}, bound('acme'))).toEqual([120]);
    expect(await spent({}, bound('acme', 'ops'))).toEqual([20]);
    expect(await spent({ orgId: 'acme' }, bound('acme', 'ops'))).toEqual([20]);
    expect(await spent({ teamId: 'search', agentId: 'bot' }, bound('acme'))).toEqual([100]);
    expect(await spent({ orgId: 'globex' }, bound('acme'))).toEqual([]);
    expect(await spent({ orgId: 'acme', teamId: 'search', agentId: 'bot' }, bound('acme', 'ops'))).toEqual([]);
  });

  test('needs the scope to read', async () => {
    await expect(history({}, { ...operator, scopes: [] })).rejects.toMatchObject({ code: 'insufficient_scope' });
  });
});

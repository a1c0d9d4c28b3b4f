import { reserve, settle as charge } from '../testkit/charges.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditPage, AuditQuery, AuditReader } from '../audit/audit-reader.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from './verify-budgets.ts';
import type { Total } from '../kernel/money.ts';
import { minus } from '../kernel/money.ts';
import { tiersOf } from './tier.ts';
import { completeAction } from '../testkit/commands.ts';
import { OpsCheckpoint, sweepOps } from '../ops/checkpoint.ts';
import { releaseReservation } from '../control/liveness.ts';

const dayMs = 86_400_000;
const policy = (timeZone = 'UTC') =>
  `name: p\ndefault: allow\nbudget: { daily_limit_usd: 100, timezone: ${timeZone} }\n`;
let store: MemoryStore;
let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  store = new MemoryStore();
  g = await testGovernance({ store });
  await g.policies(policy());
  bot = await g.register(agentId('acme/search/bot'));
});

const verify = (log: AuditReader = store) => verifyBudgets(g.gov, operator, log);

async function settle(micros: number, agent = bot): Promise<void> {
  const { opId } = await g.check(agent, { estimatedCostMicros: micros });
  await g.complete(agent, opId);
}

/** Does what somebody with write access to the store could do. */
async function tamper(change: (spent: Total) => Total): Promise<void> {
  while (g.balance?.save() === true);
  g.turn();
  const { balances, balancesMark } = await store.load();
  if (balancesMark === null) throw new Error('nothing was saved');
  const saved = balances.map((row) =>
    row.of.tier === 'org' ? { ...row, spent: { ...row.spent, day: change(row.spent.day) } } : row,
  );
  const nothing = { over: [], closed: [], closedBefore: null };
  store.commit({ entries: [], changes: [{ kind: 'balances_saved', saved, asOf: balancesMark, ...nothing }] });
  g = await g.crash();
}

describe('what an operation reserves', () => {
  const rowOf = async () => {
    const checkpoint = new OpsCheckpoint(g.gov, 1000, 1000);
    g.clock.advance(1000);
    checkpoint.step(10);
    g.turn();
    expect([...(await store.load()).ops]).toHaveLength(1);
  };
  /** Starts anew from rows alone. */
  const startFromRows = async () => {
    store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: g.gov.journal.head.seq }] });
    g = await g.crash();
    await g.policies(policy());
  };

  test.each([
    ['completed', async (opId: string) => void (await g.complete(bot, opId))],
    [
      'released',
      async (opId: string) => {
        releaseReservation(g.gov, g.gov.ops.get(g.known(bot.id), opId), 'silent');
        g.turn();
      },
    ],
  ])('counts for nothing once it is %s: a row that says otherwise is noticed', async (_, end) => {
    const { opId } = await g.check(bot, { estimatedCostMicros: 50 });
    await rowOf();
    await end(opId);
    expect((await verify()).consistent).toBe(true);
    await startFromRows();
    const { consistent, differences } = await verify();
    expect(consistent).toBe(false);
    expect(differences.map(({ period, ledgerMicros, logMicros }) => ({ period, ledgerMicros, logMicros }))).toEqual(
      tiersOf(bot.id).map(() => ({ period: null, ledgerMicros: 50, logMicros: 0 })),
    );
  });

  test('counts for another operation with the same id', async () => {
    const request = { traceId: 't', spanId: 's', estimatedCostMicros: 50 };
    const { opId } = await g.check(bot, request);
    await g.complete(bot, opId);
    g.clock.advance(60_000);
    sweepOps(g.gov);
    await g.check(bot, request);
    await rowOf();
    await startFromRows();
    expect((await verify()).consistent).toBe(true);
  });
});

describe('balances', () => {
  test('are what the log adds up to: spent, held back, in each tier, over days and crashes', async () => {
    const other = await g.register(agentId('globex//bot'));
    await settle(100);
    g.clock.advance(dayMs);
    await settle(20, other);
    g = await g.crash();
    await g.policies(policy());
    await settle(3);
    await g.check(bot, { estimatedCostMicros: 50 });
    expect(await verify()).toEqual({ consistent: true, checkedEntries: 3, checkedFrom: null, differences: [] });
  });

  test('that somebody has changed in the store are found, tier by tier, with both totals', async () => {
    await settle(100);
    await tamper((spent) => minus(spent, 40));
    const [, org] = tiersOf(bot.id);
    expect(await verify()).toMatchObject({
      consistent: false,
      differences: [{ of: org, period: 'day', ledgerMicros: 60, logMicros: 100 }],
    });
  });

  test('of which something was lost, or made up, are found', async () => {
    await settle(100);
    reserve(g.gov.ledger, bot.id, 7);
    expect((await verify()).differences).toEqual(
      tiersOf(bot.id).map((of) => ({ of, period: null, ledgerMicros: 7, logMicros: 0 })),
    );
    charge(g.gov.ledger, bot.id, 7, 7);
    const { differences } = await verify();
    expect(
      differences.map(({ of, period, ledgerMicros, logMicros }) => [of.tier, period, ledgerMicros, logMicros]),
    ).toEqual(
      ['global', 'org', 'team', 'agent'].flatMap((tier) => [
        [tier, 'month', 107, 100],
        [tier, 'day', 107, 100],
      ]),
    );
  });

  test('are checked as they were at the beginning, whatever happens meanwhile', async () => {
    await settle(100);
    const busy: AuditReader = {
      latest: (query) => store.latest(query),
      oldest: async (query: AuditQuery): Promise<AuditPage> => {
        await settle(1000);
        return await store.oldest(query);
      },
    };
    expect(await verify(busy)).toMatchObject({ consistent: true, checkedEntries: 1 });
  });

  test('of a turn that is not durable yet are checked without it', async () => {
    await settle(100);
    const { opId } = await g.check(bot, { estimatedCostMicros: 20 });
    const members = { actualCostMicros: null, outcome: null, detail: '' };
    const completing = completeAction(g.gov, { agentId: bot.id, token: bot.token, opId, ...members });
    expect([...g.gov.journal.undurable()].length).toBeGreaterThan(0);
    expect(await verify()).toMatchObject({ consistent: true, checkedEntries: 1 });
    await g.settle(completing);
    expect(await verify()).toMatchObject({ consistent: true, checkedEntries: 2 });
  });

  test('are those of the day that was in force, though the clock is set back over midnight', async () => {
    await settle(100);
    g.clock.advance(dayMs);
    g.gov.ledger.window('day');
    g.clock.setWallClock(-dayMs);
    await settle(20);
    expect(g.gov.ledger.read({ tier: 'global', orgId: '', teamId: '', agentId: '' }).spent).toEqual({
      day: 20,
      month: 120,
    });
    expect(await verify()).toMatchObject({ consistent: true });
    g = await g.crash();
    await g.policies(policy());
    expect(g.gov.ledger.read({ tier: 'global', orgId: '', teamId: '', agentId: '' }).spent).toEqual({
      day: 20,
      month: 120,
    });
    expect(await verify()).toMatchObject({ consistent: true });
  });

  test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin'])(
    'stay so when the time zone becomes %s, and over a restart',
    async (zone) => {
      for (const hours of [0, 5, 7, 9]) {
        g.clock.advance(hours * 3_600_000);
        await settle(100);
        await g.policies(policy(zone));
        await settle(10);
        while (g.balance?.save() === true);
        g.turn();
        await settle(1);
        expect(await verify()).toMatchObject({ consistent: true });
        const before = g.gov.ledger.all().map(({ of, spent }) => ({ of, spent: { ...spent } }));
        g = await g.crash();
        await g.policies(policy(zone));
        expect(g.gov.ledger.all().map(({ of, spent }) => ({ of, spent }))).toEqual(before);
        expect(await verify()).toMatchObject({ consistent: true });
        await g.policies(policy());
        await settle(1);
        expect(await verify()).toMatchObject({ consistent: true });
      }
    },
  );
});

describe('a log that was cut', () => {
  test('within the month is checked from where it is whole: the day is, the month is not', async () => {
    await settle(100);
    g.clock.advance(dayMs);
    const { seq } = g.gov.journal.head;
    await settle(5);
    g.clock.advance(dayMs);
    await settle(20);
    store.commit({ entries: [], changes: [{ kind: 'entries_removed', through: seq }] });
    const from = (await g.audit())[0]?.at;
    const result = await verify();
    expect(result).toMatchObject({ consistent: true, differences: [], checkedEntries: 2 });
    expect(result.checkedFrom).toBe(Date.parse(from ?? ''));
    charge(g.gov.ledger, bot.id, 0, 1);
    expect((await verify()).differences.map(({ period }) => period)).toEqual(['day', 'day', 'day', 'day']);
  });
});

test('only an admin that is bound to no tenant may ask', async () => {
  await expect(verifyBudgets(g.gov, { ...operator, orgId: 'acme' }, store)).rejects.toMatchObject({
    code: 'tenant_bound',
  });
  await expect(verifyBudgets(g.gov, { ...operator, scopes: ['write'] }, store)).rejects.toMatchObject({
    code: 'insufficient_scope',
  });
});

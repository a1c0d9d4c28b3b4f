import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { OpsCheckpoint } from '../ops/checkpoint.ts';
import { recordOf } from '../ops/op.ts';
import { heartbeat } from '../tenancy/identify.ts';
import { control, finish, listen, opOf } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from '../budget/verify-budgets.ts';
import { ReservationReaper } from './liveness.ts';
import type { Total } from '../kernel/money.ts';
import { tiersOf } from '../budget/tier.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const leaseMs = 3_600_000;
const policy = 'name: p\ndefault: allow\nbudget: { daily_limit_usd: 1 }\n';
let g: TestGovernance;
let log: MemoryStore;
let bot: TestAgent;
let watch: ReservationReaper;
let released: number;

beforeEach(async () => {
  log = new MemoryStore();
  g = await testGovernance({ store: log });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
  await spend('a', 600_000);
  takeUp();
});

function takeUp(): void {
  released = 0;
  watch = new ReservationReaper(g.gov, leaseMs, alwaysListened, () => released++);
}

const spend = (traceId: string, estimatedCostMicros: number) =>
  g.check(bot, { traceId, spanId: 's', estimatedCostMicros });

async function look(): Promise<void> {
  while (watch.step(2));
  g.turn();
  await g.gov.journal.committed().catch(() => undefined);
}

/** The balance, which is the same in all tiers. */
function balance(): { reserved: Total; day: Total } {
  const [first, ...rest] = tiersOf(bot.id).map((of) => {
    const { reserved, spent } = g.gov.ledger.read(of);
    return { reserved, day: spent.day };
  });
  for (const other of rest) expect(other).toEqual(first);
  return first ?? { reserved: -1, day: -1 };
}

const isConsistent = async () => (await verifyBudgets(g.gov, operator, log)).consistent;

describe('what is held back for an agent that has vanished', () => {
  test('is free again after the lease, once, on record, and the operation stays as it is and is stale', async () => {
    g.clock.advance(leaseMs - 1);
    await look();
    expect(balance().reserved).toBe(600_000);
    g.clock.advance(1);
    await look();
    await look();
    expect([released, balance()]).toEqual([1, { reserved: 0, day: 0 }]);
    expect(recordOf(opOf(g, bot, 'a:s'))).toMatchObject({ state: 'running', stale: true, costMicros: 600_000 });
    const entries = (await g.audit()).filter(({ event_type: type }) => type === 'BudgetReservationReleased');
    expect(entries).toMatchObject([
      {
        actor: { kind: 'system' },
        op_id: 'a:s',
        reason: 'nothing was heard of the agent for 3600 s',
        lineage: { org_id: 'acme' },
        payload: { released_micros: 600_000, state: 'running' },
      },
    ]);
    expect(g.events.filter(({ type }) => type === 'audit_alert')).toMatchObject([
      { alert: 'reservation_released', details: { op_id: 'a:s', released_usd: '0.60' } },
    ]);
    expect(await isConsistent()).toBe(true);
    expect((await spend('b', 1_000_000)).decision).toBe('allow');
  });

  test.each(['running', 'paused'])(
    'belongs to an operation that is %s, and is not stale once the agent is back',
    async (state) => {
      if (state === 'paused') await control(g, bot, 'a:s', 'pause');
      g.clock.advance(leaseMs);
      await look();
      await spend('b', 1);
      if (state === 'paused') await control(g, bot, 'a:s', 'resume');
      expect(recordOf(opOf(g, bot, 'a:s'))).toMatchObject({ state: 'running', stale: false });
    },
  );

  test('is free again where the operation was paused, and stays held back for none that is over', async () => {
    await control(g, bot, 'a:s', 'pause');
    await spend('b', 100);
    await control(g, bot, 'b:s', 'terminate');
    g.clock.advance(leaseMs);
    await look();
    expect([released, balance().reserved]).toEqual([1, 0]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a heartbeat', () => Promise.resolve(heartbeat(g.gov, bot.id, bot.token))],
    ['a check', () => g.check(bot)],
    ['a control stream', () => listen(g, bot)],
  ])('stays held back where there is %s in time', async (_, live) => {
    g.clock.advance(leaseMs - 1);
    await live();
    g.clock.advance(leaseMs - 1);
    await look();
    expect(released).toBe(0);
  });

  test('is held back again where the store did not take it', async () => {
    g.clock.advance(leaseMs);
    g.failure = new Error('the disk is full');
    await look();
    expect(balance().reserved).toBe(600_000);
    expect(opOf(g, bot, 'a:s')).toMatchObject({ reservedMicros: 600_000, stale: false });
    g.failure = undefined;
    await look();
    expect(balance().reserved).toBe(0);
  });
});

/** Runs until a restart no longer needs the log to restore operations. */
function keepHouse(): void {
  const checkpoint = new OpsCheckpoint(g.gov, 10_000, 60_000);
  for (let tick = 0; tick < 20; tick++) {
    g.clock.advance(10_000);
    while (checkpoint.step(100)) g.turn();
    g.turn();
  }
  expect(checkpoint.replayFrom).toBe(g.gov.journal.head.seq);
}

describe('an operation whose reservation was released', () => {
  beforeEach(async () => {
    keepHouse();
    g.clock.advance(leaseMs);
    await look();
  });

  test.each([
    ['its actual cost', 250_000, 250_000],
    ['what was once held back, where its agent does not say', null, 600_000],
  ])('balance %s when it is completed after all', async (_, actualCostMicros, booked) => {
    await g.complete(bot, 'a:s', { actualCostMicros });
    expect(balance()).toEqual({ reserved: 0, day: booked });
    expect(await isConsistent()).toBe(true);
  });

  test('is allowed again when it is checked again, without a second charge', async () => {
    expect((await spend('a', 600_000)).decision).toBe('allow');
    expect(balance().reserved).toBe(0);
  });

  test('frees nothing more when it is terminated', async () => {
    await control(g, bot, 'a:s', 'terminate');
    expect(balance()).toEqual({ reserved: 0, day: 0 });
  });

  test.each([
    ['from the log', () => undefined],
    ['from its row, when the log is not replayed that far back', keepHouse],
  ])('comes back without its reservation %s, and its completion is booked once', async (_, before) => {
    before();
    g = await g.crash();
    await g.policies(policy);
    takeUp();
    expect(balance()).toEqual({ reserved: 0, day: 0 });
    await look();
    expect(released).toBe(0);
    await finish(g, g.complete(bot, 'a:s'));
    expect(balance()).toEqual({ reserved: 0, day: 600_000 });
    g = await g.crash();
    expect(balance()).toEqual({ reserved: 0, day: 600_000 });
    expect(await isConsistent()).toBe(true);
  });
});

test('a lease starts anew after a restart, as nobody could be heard meanwhile', async () => {
  g.clock.advance(leaseMs);
  g = await g.crash();
  takeUp();
  await look();
  expect([released, balance().reserved]).toEqual([0, 600_000]);
  g.clock.advance(leaseMs);
  await look();
  expect([released, balance().reserved]).toEqual([1, 0]);
});

import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from './verify-budgets.ts';
import { followClock } from './balance-keeper.ts';
import type { Total } from '../kernel/money.ts';
import { readHistory } from './read-budgets.ts';
import { everybody, tiersOf } from './tier.ts';

/** Clocks may run ahead and be corrected, or be set back. Nobody gets a budget twice, and the log always adds up. */

const hour = 3_600_000;
const dayMs = 24 * hour;
const policy = 'name: p\ndefault: allow\nbudget: { daily_limit_usd: 0.001 }\n';
let store: MemoryStore;
let g: TestGovernance;
let bot: TestAgent;

async function start(): Promise<void> {
  store = new MemoryStore();
  g = await testGovernance({ store });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
  // The middle of a month, at noon.
  g.clock.setWallClock(Date.parse('2026-05-15T12:00:00Z') - g.clock.now());
}

async function spend(micros: number, agent = bot): Promise<string> {
  const { opId, decision } = await g.check(agent, { estimatedCostMicros: micros });
  if (decision === 'allow') await g.complete(agent, opId);
  return decision;
}

async function save(most?: number): Promise<void> {
  while (g.balance?.save(most) === true) g.turn();
  g.turn();
}

async function crash(): Promise<void> {
  g = await g.crash();
  await g.policies(policy);
}

/** Keeps the clock as it is for long enough to be believed. */
function settleClock(): void {
  g.gov.ledger.window('day');
  g.clock.advance(hour);
  followClock(g.gov);
  g.turn();
}

const spent = () => g.gov.ledger.read(everybody).spent;
const resetsAt = () => new Date(g.gov.ledger.resetsAt('day')).toISOString();
const verified = async () => (await verifyBudgets(g.gov, operator, store)).differences;

beforeEach(start);

describe.each([
  ['three days', 3],
  ['forty days', 40],
  ['a year', 365],
])('a clock that was %s ahead and is set right', (_, days) => {
  test.each([false, true])(
    'leaves all that was spent in the day and the month; over a restart: %s',
    async (restarts) => {
      await spend(100);
      g.clock.setWallClock(days * dayMs);
      await spend(20);
      if (restarts) await save();
      g.clock.setWallClock(-days * dayMs);
      if (restarts) await crash();
      expect(spent()).toEqual({ day: 120, month: 120 });
      expect(resetsAt()).toBe('2026-05-16T00:00:00.000Z');
      expect(await verified()).toEqual([]);
      await spend(3);
      expect(spent()).toEqual({ day: 123, month: 123 });
      expect(await spend(1000)).toBe('deny');
      if (restarts) await crash();
      expect(spent()).toEqual({ day: 123, month: 123 });
      expect(await verified()).toEqual([]);
    },
  );

  test('starts anew the next day, and on the day that it had shown', async () => {
    await spend(100);
    g.clock.setWallClock(days * dayMs);
    await spend(20);
    g.clock.setWallClock(-days * dayMs);
    settleClock();
    expect(spent()).toEqual({ day: 120, month: 120 });
    expect(await verified()).toEqual([]);
    await crash();
    expect(spent()).toEqual({ day: 120, month: 120 });
    expect(await verified()).toEqual([]);
    g.clock.advance(dayMs);
    expect(spent()).toEqual({ day: 0, month: 120 });
    await spend(7);
    expect(spent()).toEqual({ day: 7, month: 127 });
    g.clock.advance((days - 1) * dayMs);
    expect(spent().day).toBe(0);
    expect(await verified()).toEqual([]);
  });

  test('is on record, and told to whoever operates the gateway', async () => {
    await spend(100);
    g.clock.setWallClock(days * dayMs);
    await spend(20);
    const from = g.gov.ledger.bookedTo;
    g.clock.setWallClock(-days * dayMs);
    settleClock();
    const entries = (await g.audit()).filter((entry) => entry.event_type === 'BudgetDayMovedBack');
    expect(entries).toMatchObject([{ lineage: { org_id: null }, payload: { from, to: '2026-05-15' } }]);
    const alerts = g.events.filter(({ type }) => type === 'audit_alert');
    expect(alerts).toMatchObject([{ alert: 'clock_set_back', agent: null, details: { from, to: '2026-05-15' } }]);
    followClock(g.gov);
    g.turn();
    expect((await g.audit()).filter((entry) => entry.event_type === 'BudgetDayMovedBack')).toHaveLength(1);
  });

  test('that a store cannot take down is tried again', async () => {
    await spend(100);
    g.clock.setWallClock(days * dayMs);
    await spend(20);
    g.clock.setWallClock(-days * dayMs);
    g.failure = new Error('the disk is full');
    settleClock();
    g.failure = undefined;
    expect(spent()).toEqual({ day: 120, month: 120 });
    expect(await verified()).toEqual([]);
    settleClock();
    expect((await g.audit()).at(-1)?.event_type).toBe('BudgetDayMovedBack');
    expect(spent()).toEqual({ day: 120, month: 120 });
    expect(await verified()).toEqual([]);
  });

  test('leaves a history of days that were, and of none that were not', async () => {
    await spend(100);
    await save();
    g.clock.setWallClock(days * dayMs);
    await spend(20);
    await save();
    g.clock.setWallClock((days + 1) * dayMs);
    await spend(1);
    await save();
    g.clock.setWallClock(-(2 * days + 1) * dayMs);
    settleClock();
    await save();
    g.clock.advance(dayMs);
    await spend(5);
    await save();
    await crash();
    const history = await readHistory(g.gov, operator, store, { period: 'day', count: 9 });
    expect(
      history.map(({ startsAt, spentMicros }) => [new Date(startsAt).toISOString().slice(0, 10), spentMicros]),
    ).toEqual([
      ['2026-05-15', 121],
      ['2026-05-16', 5],
    ]);
    g.clock.advance(370 * dayMs);
    await save();
    const later = await readHistory(g.gov, operator, store, { period: 'day', count: 9 });
    expect(later.map(({ spentMicros }) => spentMicros)).toEqual([121, 5]);
  });
});

describe('a clock that is set back', () => {
  test('by an hour over midnight: the day that had begun goes on until it is over, also after a restart', async () => {
    await spend(100);
    g.clock.advance(12.25 * hour);
    await spend(20);
    expect(resetsAt()).toBe('2026-05-17T00:00:00.000Z');
    g.clock.setWallClock(-hour);
    for (const restarts of [false, true]) {
      if (restarts) await crash();
      expect([spent(), resetsAt()]).toEqual([{ day: 20, month: 120 }, '2026-05-17T00:00:00.000Z']);
      expect(await verified()).toEqual([]);
    }
    g.clock.advance(hour);
    expect([spent(), resetsAt()]).toEqual([{ day: 20, month: 120 }, '2026-05-17T00:00:00.000Z']);
    g.clock.advance(dayMs);
    expect([spent(), resetsAt()]).toEqual([{ day: 0, month: 120 }, '2026-05-18T00:00:00.000Z']);
  });

  test('far, and set right within the hour, as at the start of a machine without a clock of its own, gives nothing', async () => {
    await spend(100);
    await crash();
    g.clock.setWallClock(-50 * 365 * dayMs);
    await crash();
    expect(spent()).toEqual({ day: 100, month: 100 });
    await spend(20);
    g.clock.advance(hour / 2);
    followClock(g.gov);
    g.clock.setWallClock(50 * 365 * dayMs);
    for (const restarts of [false, true]) {
      if (restarts) await crash();
      expect(spent()).toEqual({ day: 120, month: 120 });
      expect(await verified()).toEqual([]);
    }
  });

  test('to before anything was booked counts for nothing', async () => {
    g.clock.setWallClock(-400 * dayMs);
    expect(spent()).toEqual({ day: 0, month: 0 });
    await spend(5);
    expect(g.gov.ledger.bookedTo).toBe('2025-04-10');
    expect(await verified()).toEqual([]);
  });
});

type Command =
  | { readonly do: 'spend'; readonly agent: number; readonly cost: number }
  | { readonly do: 'jump'; readonly ms: number }
  | { readonly do: 'wait'; readonly hours: number }
  | { readonly do: 'save'; readonly most: number }
  | { readonly do: 'fail' | 'crash' | 'keep house' };

function commands(jumps: readonly number[]): fc.Arbitrary<Command[]> {
  return fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          do: fc.constant('spend' as const),
          agent: fc.nat({ max: 2 }),
          cost: fc.integer({ min: 1, max: 9 }),
        }),
      },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.constantFrom(...jumps) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(0.5, 2, 9, 24) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('save' as const), most: fc.integer({ min: 1, max: 4 }) }) },
      {
        weight: 4,
        arbitrary: fc.constantFrom<Command>(
          { do: 'crash' },
          { do: 'keep house' },
          { do: 'keep house' },
          { do: 'fail' },
        ),
      },
    ),
    { maxLength: 60, size: 'max' },
  );
}

class World {
  readonly agents: TestAgent[] = [bot];
  /** What was settled when, by a clock that is never wrong. */
  readonly settled: { readonly at: number; readonly cost: number }[] = [];
  /** How far the clock is off. */
  offset = 0;

  get realNow(): number {
    return g.clock.now() - this.offset;
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case 'spend': {
        const agent = this.agents[command.agent % this.agents.length] ?? bot;
        if ((await spend(command.cost, agent)) === 'allow') {
          this.settled.push({ at: this.realNow, cost: command.cost });
        }
        return;
      }
      case 'jump':
        g.clock.setWallClock(command.ms - this.offset);
        this.offset = command.ms;
        return;
      case 'wait':
        g.clock.advance(command.hours * hour);
        return;
      case 'save':
        g.balance?.save(command.most);
        g.turn();
        return;
      case 'fail':
        g.failure = new Error('the disk is full');
        g.balance?.save(2);
        followClock(g.gov);
        g.turn();
        g.failure = undefined;
        return;
      case 'keep house':
        followClock(g.gov);
        await save();
        return;
      case 'crash': {
        const before = this.totals();
        await crash();
        for (const [at, total] of this.totals().entries()) expect(total >= (before[at] ?? 0)).toBe(true);
      }
    }
  }

  totals(): Total[] {
    return this.agents.flatMap(({ id }) =>
      tiersOf(id).flatMap((of) => {
        const { spent: counted } = g.gov.ledger.read(of);
        return [counted.day, counted.month];
      }),
    );
  }

  async check(): Promise<void> {
    expect(await verified()).toEqual([]);
    const { start: begins, end } = g.gov.ledger.window('day');
    const now = g.clock.now();
    expect(end).toBeGreaterThan(now);
    expect(begins - now).toBeLessThanOrEqual(2 * dayMs);
    expect(new Date(end).toISOString()).toMatch(/T00:00:00/);
  }

  /** What was really settled today and this month. */
  really(): { day: number; month: number } {
    const today = new Date(this.realNow).toISOString();
    const sum = (digits: number) =>
      this.settled
        .filter(({ at }) => new Date(at).toISOString().slice(0, digits) === today.slice(0, digits))
        .reduce((total, { cost }) => total + cost, 0);
    return { day: sum(10), month: sum(7) };
  }
}

async function world(): Promise<World> {
  await start();
  const made = new World();
  for (const name of ['acme/ops/bot', 'globex//bot']) made.agents.push(await g.register(agentId(name)));
  return made;
}

const anyJump = [0, 0, 60_000, -60_000, hour, -hour, 20 * hour, -20 * hour, 3, -3, 40, -40, 365, -365].map((jump) =>
  Math.abs(jump) > 999 || jump === 0 ? jump : jump * dayMs,
);

/** A tier spent on a day that is older than all that count when the clock is set back. */
const forgottenDay: Command[] = [
  { do: 'spend', agent: 1, cost: 1 },
  { do: 'wait', hours: 24 },
  { do: 'spend', agent: 0, cost: 1 },
  { do: 'jump', ms: 3 * dayMs },
  ...[1, 2, 3].flatMap((): Command[] => [
    { do: 'spend', agent: 0, cost: 1 },
    { do: 'wait', hours: 24 },
  ]),
  { do: 'spend', agent: 0, cost: 1 },
  { do: 'jump', ms: -40 * dayMs },
];

test('wherever the clock jumps, and wherever the process ends, the log adds up and nothing is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(commands(anyJump), async (list) => {
      const made = await world();
      for (const command of list) {
        await made.run(command);
        await made.check();
      }
      await made.run({ do: 'crash' });
      await made.check();
    }),
    { numRuns: 60, examples: [[forgottenDay]] },
  );
}, 240_000);

test.each([3, 40, 365])(
  'when a clock that is now and then %i days ahead is right, today and this month have all that was really spent in them',
  async (days) => {
    await fc.assert(
      fc.asyncProperty(commands([0, days * dayMs]), async (list) => {
        const made = await world();
        for (const command of list) {
          await made.run(command);
          await made.check();
          if (made.offset !== 0) continue;
          const [counted, really] = [spent(), made.really()];
          expect(counted.day).toBeGreaterThanOrEqual(really.day);
          expect(counted.month).toBeGreaterThanOrEqual(really.month);
        }
      }),
      { numRuns: 40 },
    );
  },
  240_000,
);

import { release, reserve, settle } from '../testkit/charges.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { agentId } from '../testkit/requests.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { BudgetRules } from './budget-policy.ts';
import { budgetPolicy, noBudgets, noCaps } from './budget-policy.ts';
import type { Approached } from './cap-rule.ts';
import { Ledger } from './ledger.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

const bot = agentId('acme/search/bot');
const other = agentId('globex/search/bot');

function ledgerWith(rules: Partial<BudgetRules>, clock = new ManualClock()): Ledger {
  return new Ledger(clock, budgetPolicy({ ...noBudgets, ...rules }));
}

function caps(tier: BudgetTier, day: number | null, month: number | null): Partial<BudgetRules> {
  return { uniform: { ...noBudgets.uniform, [tier]: { day, month } } };
}

const named = ({ percent, period, of }: Approached) => `${of.tier}.${period} ${percent}`;

describe('a charge', () => {
  test.each(['global', 'org', 'team', 'agent'] as const)(
    'may reach the cap of the tier %s exactly, and not pass it',
    (tier) => {
      const ledger = ledgerWith(caps(tier, 100, null));
      reserve(ledger, bot, 60);
      expect(ledger.exceededBy(tiersOf(bot), 40)).toBeUndefined();
      expect(ledger.exceededBy(tiersOf(bot), 41)).toMatchObject({
        of: { tier },
        period: 'day',
        limitMicros: 100,
        totalMicros: 60,
      });
    },
  );

  test('is refused by the first tier that it would pass: global, org, team, agent; the month before the day', () => {
    const all = { day: 10, month: 10 };
    const order: BudgetTier[] = ['global', 'org', 'team', 'agent'];
    for (const [index, tier] of order.entries()) {
      const uniform = Object.fromEntries(order.map((name, at) => [name, at < index ? noCaps : all]));
      const ledger = ledgerWith({ uniform: uniform as BudgetRules['uniform'] });
      expect(ledger.exceededBy(tiersOf(bot), 11)).toMatchObject({ of: { tier }, period: 'month' });
    }
    const ledger = ledgerWith(caps('team', 10, 20));
    expect(ledger.exceededBy(tiersOf(bot), 15)).toMatchObject({ of: { tier: 'team' }, period: 'day' });
    expect(ledger.exceededBy(tiersOf(bot), 25)).toMatchObject({ of: { tier: 'team' }, period: 'month' });
  });

  test('of one org leaves another alone', () => {
    const ledger = ledgerWith(caps('org', 100, null));
    reserve(ledger, bot, 100);
    expect(ledger.exceededBy(tiersOf(bot), 1)).toBeDefined();
    expect(ledger.exceededBy(tiersOf(other), 100)).toBeUndefined();
  });

  test('that costs nothing is never refused', () => {
    const ledger = ledgerWith(caps('agent', 10, null));
    settle(ledger, bot, 0, 50);
    expect(ledger.exceededBy(tiersOf(bot), 0)).toBeUndefined();
    expect(ledger.exceededBy(tiersOf(bot), 1)).toBeDefined();
  });

  test('of an agent without org and team goes to the global and the agent’s balance', () => {
    expect(tiersOf(agentId('//solo')).map(({ tier }) => tier)).toEqual(['global', 'agent']);
  });
});

describe('a tenant’s own cap', () => {
  test('stands in place of the uniform one, period by period', () => {
    const of = (tiersOf(bot)[1] ?? {}) as TierOf;
    const ledger = ledgerWith({ ...caps('org', 100, 1000), own: [{ of, caps: { day: 500 } }] });
    expect(ledger.exceededBy(tiersOf(bot), 501)).toMatchObject({ period: 'day', limitMicros: 500 });
    expect(ledger.exceededBy(tiersOf(bot), 1001)).toMatchObject({ period: 'month', limitMicros: 1000 });
    expect(ledger.exceededBy(tiersOf(other), 101)).toMatchObject({ period: 'day', limitMicros: 100 });
  });
});

describe('a period', () => {
  const at = (clock: ManualClock, time: string) => clock.setWallClock(Date.parse(time) - clock.now());

  test('starts anew at local midnight, and what is reserved stays so', () => {
    const clock = new ManualClock();
    at(clock, '2026-11-15T22:30:00Z');
    const ledger = ledgerWith({ ...caps('agent', 100, 150), timeZone: 'Europe/Berlin' }, clock);
    reserve(ledger, bot, 50);
    settle(ledger, bot, 0, 50);
    expect(ledger.exceededBy(tiersOf(bot), 1)).toMatchObject({ period: 'day' });
    expect(new Date(ledger.resetsAt('day')).toISOString()).toBe('2026-11-15T23:00:00.000Z');
    at(clock, '2026-11-15T23:00:00Z');
    expect(ledger.exceededBy(tiersOf(bot), 50)).toBeUndefined();
    expect(ledger.exceededBy(tiersOf(bot), 51)).toMatchObject({ period: 'month', totalMicros: 100 });
    at(clock, '2026-11-30T23:00:00Z');
    expect(ledger.exceededBy(tiersOf(bot), 50)).toBeUndefined();
  });

  test('is a day of 23 and one of 25 hours where the clocks change', () => {
    const clock = new ManualClock();
    for (const [day, hours] of [
      ['2026-03-29', 23],
      ['2026-10-25', 25],
    ] as const) {
      at(clock, `${day}T12:00:00Z`);
      const ledger = ledgerWith({ ...caps('agent', 100, null), timeZone: 'Europe/Berlin' }, clock);
      const end = ledger.resetsAt('day');
      const start = new Ledger(clockAt(Date.parse(`${day}T12:00:00Z`) - 86_400_000), ledger.policy).resetsAt('day');
      expect((end - start) / 3_600_000).toBe(hours);
      settle(ledger, bot, 0, 100);
      at(clock, new Date(end - 1).toISOString());
      expect(ledger.exceededBy(tiersOf(bot), 1)).toBeDefined();
      at(clock, new Date(end).toISOString());
      expect(ledger.exceededBy(tiersOf(bot), 1)).toBeUndefined();
    }
  });

  test('does not come back when the clock is set back', () => {
    const clock = new ManualClock();
    at(clock, '2026-11-15T12:00:00Z');
    const ledger = ledgerWith(caps('agent', 100, null), clock);
    settle(ledger, bot, 0, 100);
    clock.setWallClock(-86_400_000);
    expect(ledger.exceededBy(tiersOf(bot), 1)).toBeDefined();
  });

  function clockAt(now: number): ManualClock {
    const clock = new ManualClock();
    clock.setWallClock(now - clock.now());
    return clock;
  }
});

describe('a cap that is nearly used up', () => {
  test('is told about at 80 and at 95 percent, once a period, and both where a charge passes both', () => {
    const ledger = ledgerWith(caps('org', 100, null));
    expect(reserve(ledger, bot, 79).approached).toEqual([]);
    expect(reserve(ledger, bot, 1).approached.map(named)).toEqual(['org.day 80']);
    expect(reserve(ledger, bot, 1).approached).toEqual([]);
    expect(release(ledger, bot, 50)).toBeTypeOf('function');
    expect(reserve(ledger, bot, 69).approached.map(named)).toEqual(['org.day 95']);
    expect(reserve(ledgerWith(caps('org', 100, 100)), bot, 100).approached.map(named)).toEqual([
      'org.month 80',
      'org.month 95',
      'org.day 80',
      'org.day 95',
    ]);
  });

  test('is told about by a settlement above the reservation, too', () => {
    const ledger = ledgerWith(caps('agent', 100, null));
    reserve(ledger, bot, 10);
    expect(settle(ledger, bot, 10, 90).approached.map(named)).toEqual(['agent.day 80']);
  });

  test('by what is still reserved after midnight is told about with the first charge of the new day', () => {
    const clock = new ManualClock();
    clock.setWallClock(Date.parse('2026-11-15T22:00:00Z') - clock.now());
    const ledger = ledgerWith(caps('agent', 100, null), clock);
    expect(reserve(ledger, bot, 85).approached.map(named)).toEqual(['agent.day 80']);
    clock.setWallClock(3 * 3_600_000);
    expect(reserve(ledger, bot, 1).approached.map(named)).toEqual(['agent.day 80']);
    expect(reserve(ledger, bot, 1).approached).toEqual([]);
  });
});

interface Model {
  readonly reserved: Map<string, number>;
  readonly spent: Map<string, number>;
}

const agents = ['acme/a/1', 'acme/a/2', 'acme/b/1', 'globex/a/1', '/a/1', '//1'].map(agentId);

test('over any sequence of charges, of which some are taken back, balances equal a plain sum, and no cap is passed by a reservation', () => {
  const charge = fc.record({
    agent: fc.constantFrom(...agents),
    cost: fc.integer({ min: 0, max: 60 }),
    next: fc.constantFrom('settle', 'release', 'keep', 'undo'),
    actual: fc.integer({ min: 0, max: 90 }),
  });
  fc.assert(
    fc.property(fc.array(charge, { maxLength: 60 }), fc.integer({ min: 50, max: 400 }), (charges, cap) => {
      const uniform = {
        global: { day: 3 * cap, month: null },
        org: { day: 2 * cap, month: null },
        team: { day: cap, month: null },
        agent: { day: cap, month: null },
      };
      const ledger = ledgerWith({ uniform });
      const model: Model = { reserved: new Map(), spent: new Map() };
      const add = (book: Map<string, number>, agent: AgentId, amount: number) => {
        for (const of of tiersOf(agent)) book.set(tierKey(of), (book.get(tierKey(of)) ?? 0) + amount);
      };
      const total = (of: TierOf) => (model.reserved.get(tierKey(of)) ?? 0) + (model.spent.get(tierKey(of)) ?? 0);
      for (const { agent, cost, next, actual } of charges) {
        const passes = cost > 0 && tiersOf(agent).find((of) => total(of) + cost > uniform[of.tier].day);
        expect(ledger.exceededBy(tiersOf(agent), cost)?.of ?? false).toEqual(
          passes === undefined || passes === false ? false : passes,
        );
        if (ledger.exceededBy(tiersOf(agent), cost) !== undefined) continue;
        const { undo } = reserve(ledger, agent, cost);
        if (next === 'undo') {
          undo();
          continue;
        }
        add(model.reserved, agent, cost);
        if (next === 'keep') continue;
        add(model.reserved, agent, -cost);
        if (next === 'release') release(ledger, agent, cost);
        else {
          settle(ledger, agent, cost, actual);
          add(model.spent, agent, actual);
        }
      }
      for (const balance of ledger.all()) {
        expect(balance.reserved).toBe(model.reserved.get(tierKey(balance.of)) ?? 0);
        expect(balance.spent.day).toBe(model.spent.get(tierKey(balance.of)) ?? 0);
      }
    }),
    { numRuns: 300 },
  );
});

test('a correction that is taken back counts, even if the empty balance was forgotten meanwhile', () => {
  const ledger = ledgerWith(caps('agent', 100, null));
  settle(ledger, bot, 0, 60);
  const undos = tiersOf(bot).flatMap((of) =>
    (['day', 'month'] as const).map((period) => ledger.balances.correct(of, period, -60, ledger.bookedTo)),
  );
  for (const _ of ledger.forgettingIdle());
  for (const undo of undos.reverse()) undo();
  for (const of of tiersOf(bot)) expect(ledger.read(of).spent).toEqual({ day: 60, month: 60 });
  expect(ledger.exceededBy(tiersOf(bot), 41)).toBeDefined();
});

test('a notice that is taken back on a new day leaves nothing of the day before', () => {
  const clock = new ManualClock();
  const ledger = ledgerWith(caps('org', 100, null), clock);
  settle(ledger, bot, 0, 96);
  clock.advance(86_400_000);
  const { undo, approached } = reserve(ledger, bot, 80);
  expect(approached.map(named)).toEqual(['org.day 80']);
  // Another gateway has a colleague's cost booked before that is taken back.
  settle(ledger, agentId('acme/search/other'), 0, 1);
  undo();
  expect(reserve(ledger, bot, 94).approached.map(named)).toEqual(['org.day 80', 'org.day 95']);
});

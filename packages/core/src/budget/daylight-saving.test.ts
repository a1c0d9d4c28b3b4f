import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from './verify-budgets.ts';
import { readHistory } from './read-budgets.ts';

const halfHour = 1_800_000;

/**
 * Days on which the clocks change, forward and back, with their number of hours: at two in the night, at midnight, by
 * half an hour, and a day that an island skipped altogether.
 */
const days: readonly (readonly [zone: string, day: string, hours: number])[] = [
  ['Europe/Berlin', '2026-03-29', 23],
  ['Europe/Berlin', '2026-10-25', 25],
  ['America/New_York', '2026-03-08', 23],
  ['America/New_York', '2026-11-01', 25],
  ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ['Australia/Lord_Howe', '2026-10-04', 23.5],
  ['America/Santiago', '2026-04-04', 25],
  ['America/Santiago', '2026-09-06', 23],
  ['Pacific/Apia', '2011-12-29', 24],
  ['Asia/Kolkata', '2026-02-28', 24],
];

/** Spends a micro-dollar every half hour, from before a day until after it, and crashes again and again. */
async function replay(zone: string, from: number, steps: number, crashEvery: number) {
  const store = new MemoryStore();
  let g = await testGovernance({ store });
  const policy = `name: p\ndefault: allow\nbudget: { agent_daily_limit_usd: 0.000048, timezone: ${zone} }\n`;
  await g.policies(policy);
  const bot = await g.register(agentId('acme/search/bot'));
  g.clock.advance(from - g.clock.now());
  for (let step = 0; step < steps; step++) {
    const { opId, decision } = await g.check(bot, { estimatedCostMicros: 1 });
    if (decision === 'allow') await g.complete(bot, opId);
    if (step % 7 === 3) {
      while (g.balance?.save(2) === true) g.turn();
      g.turn();
    }
    g.clock.advance(halfHour);
    if (step % crashEvery === crashEvery - 1) {
      g = await g.crash();
      await g.policies(policy);
    }
  }
  while (g.balance?.save(2) === true) g.turn();
  g.turn();
  expect(await verifyBudgets(g.gov, operator, store)).toMatchObject({ consistent: true });
  const local = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const history = await readHistory(g.gov, operator, store, { period: 'day', count: 400 });
  return history.map(({ startsAt, endsAt, spentMicros }) => ({
    day: local.format(startsAt),
    lastsUntil: local.format(endsAt - 1),
    hours: (endsAt - startsAt) / 3_600_000,
    spentMicros,
  }));
}

describe.each([2, 5, 1000])('restarted every %i half hours', (crashEvery) => {
  test.each(days)(
    'in %s, %s has %d hours, each charge belongs to its local day, and the cap is the day’s',
    async (zone, day, hours) => {
      const noon = Date.parse(`${day}T12:00:00Z`);
      const history = await replay(zone, noon - 72 * halfHour, 144, crashEvery);
      for (const one of history) expect(one.lastsUntil).toBe(one.day);
      expect(new Set(history.map((one) => one.day)).size).toBe(history.length);
      const found = history.find((one) => one.day === day);
      // The cap allows as many as an ordinary day has half hours. The agent asks once every half hour.
      expect(found).toMatchObject({ hours, spentMicros: Math.min(48, hours * 2) });
    },
  );
});

test('a day that an island has left out is in no history', async () => {
  const history = await replay('Pacific/Apia', Date.parse('2011-12-28T12:00:00Z'), 160, 1000);
  expect(history.map(({ day }) => day)).toEqual(['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01']);
});

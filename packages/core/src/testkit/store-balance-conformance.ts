import { describe, expect, test } from 'vitest';
import type { ClosedPeriod } from '../budget/balance.ts';
import type { Total } from '../kernel/money.ts';
import type { Period } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import type { Change, Store } from '../store.ts';

const org: TierOf = { tier: 'org', orgId: 'acme', teamId: '', agentId: '' };
const team: TierOf = { tier: 'team', orgId: 'acme', teamId: '', agentId: '' };
const agent: TierOf = { tier: 'agent', orgId: 'acme', teamId: '', agentId: 'bot' };

function closed(of: TierOf, period: Period, id: string, spentMicros: Total = 1_370_000): ClosedPeriod {
  const startsAt = Date.parse(id);
  return { of, period, id, startsAt, endsAt: startsAt + 86_400_000, spentMicros, limitMicros: null };
}

function change(balance: readonly ClosedPeriod[], before: { day: string; month: string } | null = null): Change {
  const asOf = { seq: 0, timeZone: 'UTC' };
  return { kind: 'balances_saved', saved: [], over: [], closed: balance, closedBefore: before, asOf };
}

/** How a store keeps the spend of closed days and months. */
export function closedPeriodConformance(open: () => Store): void {
  describe('periods that were closed', () => {
    const write = async (...changes: Change[]) => {
      for (const one of changes) await open().commit({ entries: [], changes: [one] });
    };
    const ids = async (of: TierOf, period: Period, count: number) =>
      (await open().closedPeriods(of, period, count)).map(({ id }) => id);

    test('are read back as they were, the newest last, each tier and period by itself', async () => {
      const days = ['2026-11-02', '2026-10-31', '2026-11-01'].map((id) => closed(org, 'day', id));
      const month = { ...closed(org, 'month', '2026-10', Number.MAX_SAFE_INTEGER), limitMicros: 0 };
      await write(change(days), change([month, closed(team, 'day', '2026-11-01'), closed(agent, 'day', '2026-11-03')]));
      expect(await ids(org, 'day', 10)).toEqual(['2026-10-31', '2026-11-01', '2026-11-02']);
      expect(await ids(org, 'day', 2)).toEqual(['2026-11-01', '2026-11-02']);
      expect(await open().closedPeriods(org, 'month', 10)).toEqual([month]);
      expect(await ids(team, 'day', 10)).toEqual(['2026-11-01']);
      expect(await ids(agent, 'day', 10)).toEqual(['2026-11-03']);
      expect(await ids(agent, 'month', 10)).toEqual([]);
      expect((await open().load()).balances).toEqual([]);
    });

    test('hold sums that a number cannot tell apart, and less than nothing', async () => {
      const sums: readonly Total[] = [-1_500_000, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 70n)];
      const days = sums.map((sum, at) => closed(org, 'day', `2026-11-0${at + 1}`, sum));
      await write(change(days));
      expect(await open().closedPeriods(org, 'day', 10)).toEqual(days);
    });

    test('that are written again are there once, as they were written last', async () => {
      await write(change([closed(org, 'day', '2026-11-01', 1)]), change([closed(org, 'day', '2026-11-01', 2)]));
      expect(await open().closedPeriods(org, 'day', 10)).toEqual([closed(org, 'day', '2026-11-01', 2)]);
    });

    test('are given up before a day and a month, those excluded', async () => {
      const all = [
        ...['2025-10-10', '2025-10-11'].map((id) => closed(org, 'day', id)),
        ...['2021-10', '2021-11'].map((id) => closed(org, 'month', id)),
      ];
      await write(change(all), change([], { day: '2025-10-11', month: '2021-11' }));
      expect(await ids(org, 'day', 10)).toEqual(['2025-10-11']);
      expect(await ids(org, 'month', 10)).toEqual(['2021-11']);
    });
  });
}

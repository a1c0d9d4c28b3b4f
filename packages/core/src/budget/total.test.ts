import { reserve, settle } from '../testkit/charges.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { agentId } from '../testkit/requests.ts';
import { BalanceFold } from './balance-fold.ts';
import { budgetPolicy, noBudgets } from './budget-policy.ts';
import { Ledger } from './ledger.ts';
import type { Total } from '../kernel/money.ts';
import { isShareOf, minus, plus, totalJson, totalOfJson, usdOfMicros } from '../kernel/money.ts';
import { tiersOf } from './tier.ts';

/** Compares sums, near and far beyond the safe integers, with plain bigints. */

const limit = 2n ** 53n;
const anySum = fc
  .oneof(
    fc.bigInt({ min: -limit * 4n, max: limit * 4n }),
    fc.bigInt({ min: limit - 4n, max: limit + 4n }),
    fc.bigInt({ min: -limit - 4n, max: -limit + 4n }),
    fc.bigInt({ min: -10n, max: 10n }),
  )
  .map((exact) => ({ exact, total: totalOfJson(String(exact)) }));

function isCanonical(total: Total): boolean {
  return typeof total === 'number' ? Number.isSafeInteger(total) : !Number.isSafeInteger(Number(total));
}

test('a sum is exact, and equal sums are the same value', () => {
  fc.assert(
    fc.property(anySum, anySum, (a, b) => {
      const [sum, rest] = [plus(a.total, b.total), minus(a.total, b.total)];
      expect([BigInt(sum), BigInt(rest)]).toEqual([a.exact + b.exact, a.exact - b.exact]);
      expect([isCanonical(sum), isCanonical(rest)]).toEqual([true, true]);
      expect(plus(rest, b.total)).toBe(a.total);
      expect(a.total > b.total).toBe(a.exact > b.exact);
    }),
    { numRuns: 2000 },
  );
});

test('a share of a cap is told exactly', () => {
  const someWhole = fc.integer({ min: 0, max: 10 ** 15 });
  fc.assert(
    fc.property(anySum, someWhole, fc.constantFrom(80, 95, 100), ({ exact, total }, whole, percent) => {
      expect(isShareOf(total, percent, whole)).toBe(exact * 100n >= BigInt(whole) * BigInt(percent));
    }),
    { numRuns: 2000 },
  );
});

test('a sum is written down, in JSON and in dollars, digit by digit', () => {
  fc.assert(
    fc.property(anySum, ({ exact, total }) => {
      const written = totalJson(total);
      expect(totalOfJson(JSON.parse(JSON.stringify(written)) as number | string)).toBe(total);
      const [whole = '', fraction = ''] = usdOfMicros(total).split('.');
      expect(BigInt(`${whole}${fraction.padEnd(6, '0')}`)).toBe(exact);
    }),
  );
});

describe('balances beyond 2^53', () => {
  const bot = agentId('acme/search/bot');
  const most = Number.MAX_SAFE_INTEGER;
  const someCosts = fc.array(fc.oneof(fc.integer({ min: most - 5, max: most }), fc.nat({ max: 9 })), { maxLength: 30 });

  test('add up to the same as bigints, in the ledger and in the fold, and back to nothing', () => {
    fc.assert(
      fc.property(someCosts, (costs) => {
        const ledger = new Ledger(new ManualClock(), budgetPolicy(noBudgets));
        const fold = new BalanceFold();
        let exact = 0n;
        const undos = costs.map((cost) => {
          reserve(ledger, bot, cost);
          const { undo, day } = settle(ledger, bot, cost, cost);
          fold.balances.settle(tiersOf(bot), cost, day);
          exact += BigInt(cost);
          return undo;
        });
        for (const of of tiersOf(bot)) {
          const { spent, reserved } = ledger.read(of);
          expect([BigInt(spent.day), BigInt(spent.month), reserved]).toEqual([exact, exact, 0]);
        }
        for (const { spent } of fold.balances.all())
          expect([BigInt(spent.day), BigInt(spent.month)]).toEqual([exact, exact]);
        for (const undo of undos.toReversed()) undo();
        for (const of of tiersOf(bot)) expect(ledger.read(of).spent).toEqual({ day: 0, month: 0 });
      }),
      { numRuns: 200 },
    );
  });
});

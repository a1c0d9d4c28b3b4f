import { expect, test } from 'vitest';
import { cpuMs } from '../testkit/cpu-time.ts';
import { agentId } from '../testkit/requests.ts';
import { BalanceFold } from './balance-fold.ts';
import { tiersOf } from './tier.ts';

test('a step of a save that is taken back goes through what waits once, not once for each of its rows', () => {
  const fold = new BalanceFold();
  for (let nth = 0; nth < 10_000; nth++)
    fold.balances.settle(tiersOf(agentId(`acme/search/bot-${nth}`)), 1, '2026-11-17');
  const takenBack = (rows: number) => () => {
    fold.beginSave();
    const saved = fold.next(rows).map(({ balance }) => ({ ...balance, seq: 1 }));
    fold.write({ saved, over: [] })();
  };
  const one = cpuMs(takenBack(1));
  expect(cpuMs(takenBack(100))).toBeLessThan(one * 10);
  fold.beginSave();
  expect(fold.next(2).map(({ of }) => of.tier)).toEqual(['global', 'org']);
  expect(fold.saving).toBe(10_003);
});

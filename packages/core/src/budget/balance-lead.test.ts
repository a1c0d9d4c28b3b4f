import { expect, test } from 'vitest';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { tiersOf } from './tier.ts';
import { ownWork } from '../journal/warrant.ts';

// Of several gateways on a store, the one that leads saves balances. The lead may change while a save is under way.

const usd = 1e6;

async function leadChanges() {
  const gateways = await twoGateways('name: p\ndefault: allow\n');
  const { log, clock, settled, register, follow } = gateways;
  const agent = await register('acme/red/one');
  const other = await register('globex/blue/two');
  await follow();
  const spend = async (by: TestGovernance, { id, token }: TestAgent, trace: string, cost: number) => {
    const acting = [by];
    const answer = await settled(
      by.check({ id, token }, { traceId: trace, spanId: 's', estimatedCostMicros: cost }),
      acting,
    );
    await settled(by.complete({ id, token }, answer.opId, { actualCostMicros: cost }), acting);
  };
  const save = (by: TestGovernance, most?: number) =>
    by.gov.journal.turn(ownWork, () => by.balance?.save(most) ?? false);
  /** What a gateway finds that starts now. */
  const found = async () => {
    const started = await testGovernance({ store: log.store, clock });
    return tiersOf(agent.id).map((of) => started.gov.ledger.read(of).spent.month);
  };
  const mark = async () => (await log.store.load()).balancesMark?.seq;
  return { ...gateways, agent, other, spend, save, found, mark };
}

test('a save that another gateway overtook does not put older balances back', async () => {
  const { one, two, agent, other, spend, save, found, settle, settled } = await leadChanges();
  await spend(one, agent, 'a', 1 * usd);
  // One has taken the balances, and not committed them, when two has spent, taken the lead and saved.
  const overtaken = save(one);
  await spend(two, agent, 'b', 2 * usd);
  await settled(save(two), [two]);
  await settle();
  await overtaken;
  // The mark of the next save is beyond all of this.
  await spend(two, other, 'c', 1 * usd);
  await settled(save(two), [two]);
  expect(await found()).toEqual([4 * usd, 3 * usd, 3 * usd, 3 * usd]);
});

test('a save that is under way when another gateway saves begins anew, and its mark does not go back', async () => {
  const { one, two, agent, other, spend, save, found, mark, follow, settled } = await leadChanges();
  await spend(one, agent, 'a', 1 * usd);
  await spend(one, other, 'b', 1 * usd);
  // One has saved a part when two takes the lead, saves and loses it again.
  expect(await settled(save(one, 1))).toBe(true);
  await spend(two, agent, 'c', 2 * usd);
  await settled(save(two), [two]);
  await follow();
  const before = await mark();
  expect(await settled(save(one, 1), [one])).toBe(true);
  expect(await mark()).toBe(before);
  expect(await found()).toEqual([4 * usd, 3 * usd, 3 * usd, 3 * usd]);
  await settled(save(one), [one]);
  expect(await mark()).toBeGreaterThanOrEqual(before ?? Number.NaN);
  expect(await found()).toEqual([4 * usd, 3 * usd, 3 * usd, 3 * usd]);
});

test('the first steps of a gateway that takes the lead do not move the mark back to its own start', async () => {
  const { one, two, agent, other, spend, save, mark, follow, settled } = await leadChanges();
  await spend(one, agent, 'a', 1 * usd);
  await settled(save(one), [one]);
  await follow();
  const before = await mark();
  await spend(two, other, 'b', 1 * usd);
  expect(await settled(save(two, 1), [two])).toBe(true);
  expect(await mark()).toBe(before);
  expect(before).toBeGreaterThan(0);
});

test('a closed day is written once, by the gateway that leads', async () => {
  const { one, two, agent, clock, spend, save, follow, settled } = await leadChanges();
  await spend(one, agent, 'a', 1 * usd);
  clock.advance(86_400_000);
  await spend(one, agent, 'b', 1 * usd);
  await follow();
  await settled(save(one), [one]);
  await follow();
  await settled(save(two), [two]);
  const days = [one, two].map(({ commits }) =>
    commits
      .flatMap(({ changes }) => changes)
      .flatMap((change) => (change.kind === 'balances_saved' ? change.closed : []))
      .filter(({ period }) => period === 'day'),
  );
  expect(days.map(({ length }) => length)).toEqual([4, 0]);
});

import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { correctBudget } from './correct-budget.ts';
import { tiersOf } from './tier.ts';
import { ownWork } from '../journal/warrant.ts';

// A save of many balances takes a while. What happens in between, or ends it in the middle, loses and adds nothing.

const usd = 1e6;
const monthMs = 31 * 86_400_000;
let store: MemoryStore;
let g: TestGovernance;
let bots: TestAgent[];

beforeEach(async () => {
  store = new MemoryStore();
  g = await testGovernance({ store });
  await g.policies('name: p\ndefault: allow\n');
  bots = [];
  for (const name of ['acme/a/1', 'acme/b/2', 'globex/c/3']) bots.push(await g.register(agentId(name)));
});

async function spend(agent: TestAgent | undefined, micros: number): Promise<void> {
  if (agent === undefined) throw new Error('there is no such agent');
  const { opId } = await g.check(agent, { estimatedCostMicros: micros });
  await g.complete(agent, opId);
}

async function refund(agent: TestAgent | undefined, amountUsd: string): Promise<void> {
  if (agent === undefined) throw new Error('there is no such agent');
  await g.settle(correctBudget(g.gov, operator, { agent: agent.id, amountUsd, reason: 'a mistake' }));
}

const step = (most: number) => g.settle(g.gov.journal.turn(ownWork, () => g.balance?.save(most) ?? false));

async function saveAll(most = 1): Promise<void> {
  while (await step(most));
}

const rows = async () => (await store.load()).balances.length;
const spentOf = ({ gov }: TestGovernance) =>
  bots.map(({ id }) => tiersOf(id).map((of) => gov.ledger.read(of).spent.month));

/** A start finds what the ledger had. */
async function expectSameAfterCrash(): Promise<void> {
  const before = spentOf(g);
  g = await g.crash();
  expect(spentOf(g)).toEqual(before);
}

describe('a balance that becomes empty', () => {
  test('while others are saved is not taken for one that never was', async () => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await step(1);
    for (const bot of bots) await refund(bot, '-5');
    await saveAll();
    await expectSameAfterCrash();
  });

  test.each([1, 2, 3, 5, 8])('is the same after a crash %i steps into the save', async (steps) => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await saveAll();
    for (const bot of bots.slice(1)) await refund(bot, '-5');
    for (let done = 0; done < steps; done++) await step(1);
    await expectSameAfterCrash();
  });

  test('has no row any more once that is safe', async () => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await saveAll();
    expect(await rows()).toBe(9);
    for (const bot of bots.slice(1)) await refund(bot, '-5');
    // One that writes the empty rows, one whose mark is beyond them, and one that removes them.
    for (let save = 0; save < 3; save++) {
      await saveAll(2);
      await spend(bots[0], 1);
    }
    expect(await rows()).toBe(4);
    await expectSameAfterCrash();
  });

  test('has no row after a month without spending', async () => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await saveAll();
    for (let month = 0; month < 6; month++) {
      g.clock.advance(monthMs);
      await spend(bots[0], 1 * usd);
      await saveAll(2);
    }
    expect(await rows()).toBe(4);
    await expectSameAfterCrash();
  });

  test('whose row could not be removed can change again', async () => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await saveAll();
    await refund(bots[2], '-5');
    for (let save = 0; save < 2; save++) {
      await saveAll();
      await spend(bots[0], 1);
    }
    g.failure = new Error('full');
    await step(10).catch(() => undefined);
    g.failure = undefined;
    await spend(bots[2], 2 * usd);
    await saveAll();
    await expectSameAfterCrash();
  });
});

describe('the log is needed', () => {
  test('from the last save on until the next one is durable', async () => {
    for (const bot of bots) await spend(bot, 5 * usd);
    await saveAll();
    const { seq } = g.gov.journal.head;
    expect(g.balance?.neededFrom).toBe(seq);
    await spend(bots[0], 1 * usd);
    expect(g.balance?.neededFrom).toBe(seq);
    const saving = g.gov.journal.turn(ownWork, () => g.balance?.save());
    expect(g.balance?.neededFrom).toBe(seq);
    g.failure = new Error('full');
    await expect(g.settle(saving)).rejects.toThrow('cannot be written');
    expect(g.balance?.neededFrom).toBe(seq);
    g.failure = undefined;
    await saveAll();
    expect(g.balance?.neededFrom).toBe(g.gov.journal.head.seq);
  });
});

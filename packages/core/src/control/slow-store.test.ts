import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { OpsCheckpoint } from '../ops/checkpoint.ts';
import type { Batch } from '../store.ts';
import { approve, person } from '../testkit/approvals.ts';
import { approveAction, completeAction, controlOp } from '../testkit/commands.ts';
import { listen, opOf } from '../testkit/controls.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';

/** Once slow, each commit waits for `settle`, as in PostgreSQL. */
class SlowStore extends MemoryStore {
  isSlow = false;
  readonly waiting: { readonly settle: (error?: Error) => void }[] = [];

  override commit(batch: Batch): void {
    if (!this.isSlow) {
      super.commit(batch);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settle = (error?: Error) => {
      if (error !== undefined) {
        reject(error);
        return;
      }
      super.commit(batch);
      resolve();
    };
    this.waiting.push({ settle });
    // A store may answer later; the memory store never does, and its type says so.
    return promise as unknown as void;
  }
}

const asking = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell] }]\n';

async function slowWorld() {
  const store = new SlowStore();
  const world = await testGovernance({ store });
  await world.policies(asking);
  const bot = await world.register(agentId('acme/search/bot'));
  const ask = (traceId: string) => world.check(bot, { traceId, spanId: 's', action: useTool('shell', { cmd: 'ls' }) });
  const listener = await listen(world, bot);
  const step = async () => {
    await nextTurn();
    world.turn();
    await nextTurn();
  };
  const settleNext = async (error?: Error) => {
    store.waiting.shift()?.settle(error);
    await nextTurn();
    await nextTurn();
  };
  return { store, world, bot, ask, listener, step, settleNext };
}

test('a message whose removal is taken back is sent, and holds up none after it', async () => {
  const { store, world, bot, ask, listener, step, settleNext } = await slowWorld();
  const { approvalId } = await ask('a');
  await world.check(bot, { traceId: 'b', spanId: 's', action: useTool('search') });
  store.isSlow = true;
  const approving = approveAction(world.gov, person('alice'), approvalId, { reason: '', grant: null });
  await step();
  // While that commit is in flight, the operation is completed, which takes the message out of the outbox.
  const completion = { actualCostMicros: null, outcome: 'succeeded', detail: '' } as const;
  const completing = completeAction(world.gov, { agentId: bot.id, token: bot.token, opId: 'a:s', ...completion });
  completing.catch(() => undefined);
  await step();
  await settleNext();
  expect((await approving).state).toBe('approved');
  // The completion cannot be made durable.
  await settleNext(new Error('the disk is full'));
  await expect(completing).rejects.toMatchObject({ code: 'store_unavailable' });
  store.isSlow = false;
  world.turn();
  const pausing = controlOp(world.gov, operator, opOf(world, bot, 'b:s'), 'terminate', 'stop');
  await step();
  await pausing;
  expect(listener.signals()).toEqual(['1 allow', '2 terminate']);
});

test('of two verdicts at once one counts, and the other is refused only once that is durable', async () => {
  const { store, world, ask, listener, step, settleNext } = await slowWorld();
  const { approvalId } = await ask('a');
  store.isSlow = true;
  const first = approveAction(world.gov, person('alice'), approvalId, { reason: '', grant: null });
  const second = approveAction(world.gov, person('bob'), approvalId, { reason: '', grant: null });
  const outcomes = Promise.allSettled([first, second]);
  await step();
  expect(listener.heard).toEqual([]);
  await settleNext(new Error('the disk is full'));
  expect(await outcomes).toMatchObject([
    { reason: { code: 'store_unavailable' } },
    { reason: { code: 'store_unavailable' } },
  ]);
  expect(listener.heard).toEqual([]);
  store.isSlow = false;
  world.turn();
  expect((await approve(world, approvalId)).state).toBe('approved');
  expect(listener.signals()).toEqual(['1 allow']);
});

test('an operation whose end is taken back, after its decision became durable, still gets a row', async () => {
  const { store, world, bot, step, settleNext } = await slowWorld();
  const tickMs = 1000;
  store.isSlow = true;
  const checking = world.check(bot, { traceId: 'a', spanId: 's', action: useTool('search'), estimatedCostMicros: 9 });
  await step();
  const completion = { actualCostMicros: null, outcome: 'succeeded', detail: '' } as const;
  const completing = completeAction(world.gov, { agentId: bot.id, token: bot.token, opId: 'a:s', ...completion });
  completing.catch(() => undefined);
  await step();
  await settleNext();
  await checking;
  await settleNext(new Error('the store is gone'));
  await expect(completing).rejects.toThrow('audit log');
  store.isSlow = false;
  const { entries } = await store.latest({ eventType: 'ActionAllowed', limit: 1, before: Number.MAX_SAFE_INTEGER });
  expect(opOf(world, bot, 'a:s')).toMatchObject({ state: 'running', seq: entries[0]?.seq });
  world.clock.advance(10 * tickMs);
  new OpsCheckpoint(world.gov, tickMs, 60_000).step(100);
  world.turn();
  expect([...(await store.load()).ops].map(({ opId, state }) => `${opId} ${state}`)).toEqual(['a:s running']);
});

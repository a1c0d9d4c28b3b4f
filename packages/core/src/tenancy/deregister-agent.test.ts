import { expect, test } from 'vitest';
import type { Op } from '../ops/op.ts';
import type { OpState } from '../ops/lifecycle.ts';
import { opStates } from '../ops/lifecycle.ts';
import type { OpFilter } from '../ops/find-ops.ts';
import { listOps } from '../ops/find-ops.ts';
import { LeftAgentsSweep } from '../control/left-agents-sweep.ts';
import { ownWork } from '../journal/index.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { heartbeat } from './identify.ts';
import { lineageOf } from './topology.ts';
import { resumeAgent, suspendAgent } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');

/** How many operations there are in each state. */
function counts({ gov }: TestGovernance): Partial<Record<OpState, number>> {
  return Object.fromEntries(opStates.map((state) => [state, gov.ops.count(state)]).filter(([, count]) => count !== 0));
}

function listed({ gov }: TestGovernance, filter: OpFilter): string[] {
  const page = listOps(gov, operator, filter, { limit: 10 });
  for (;;) {
    const step = page.next();
    if (step.done === true) return step.value.ops.map(({ opId }) => opId);
  }
}

async function forget({ gov, settle }: TestGovernance): Promise<void> {
  await settle(gov.journal.turn(ownWork, () => new LeftAgentsSweep(gov).step(10)));
}

async function busy(): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies('rules: [{ name: all, effect: allow, tools: [search] }]');
  const agent = await test.register(bot);
  for (const traceId of ['t1', 't2', 't3']) await test.check(agent, { traceId, spanId: 's' });
  await test.complete(agent, 't3:s');
  return { test, agent };
}

test('what an agent that leaves had in flight is terminated, once and on record, and shown until it is swept', async () => {
  const { test, agent } = await busy();
  const entries = (await test.audit()).length;
  const published = test.events.length;
  await test.deregister(agent, 'done for today');
  const added = (await test.audit()).slice(entries);
  expect(added.map((entry) => [entry.event_type, entry.op_id, entry.reason])).toEqual([
    ['OpStateChanged', 't1:s', 'agent deregistered'],
    ['OpStateChanged', 't2:s', 'agent deregistered'],
    ['AgentDeregistered', null, 'done for today'],
  ]);
  expect(added[0]).toMatchObject({
    actor: { id: 'acme/search/bot', kind: 'agent' },
    payload: { from: 'running', to: 'terminated', trigger: 'terminate' },
  });
  expect(test.events.slice(published)).toMatchObject([
    { type: 'ops_change', op: { opId: 't1:s', state: 'terminated' } },
    { type: 'ops_change', op: { opId: 't2:s', state: 'terminated' } },
    { type: 'agent', change: 'deregistered' },
  ]);
  expect([...test.gov.directory.registered()]).toEqual([]);
  expect(counts(test)).toEqual({ completing: 1, terminated: 2 });
  expect(listed(test, { state: 'terminated' })).toEqual(['t2:s', 't1:s']);
  expect(listed(test, { orgId: 'globex' })).toEqual([]);
  await forget(test);
  expect(counts(test)).toEqual({ completing: 1, terminated: 2 });
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  await forget(test);
  expect(counts(test)).toEqual({});
  expect(test.gov.directory.find(bot)).toBeUndefined();
});

test('however many have left and are held, a turn looks at no more of them than it is told', async () => {
  const { test, agent } = await busy();
  await test.deregister(agent);
  for (const name of ['held', 'too']) {
    const held = await test.register(agentId(`acme/search/${name}`));
    await test.settle(suspendAgent(test.gov, operator, held.id, 'odd'));
    await test.deregister(held);
  }
  const last = await test.register(agentId('acme/search/last'));
  await test.check(last, { traceId: 't1', spanId: 's' });
  await test.deregister(last);
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  const sweep = new LeftAgentsSweep(test.gov);
  const step = () => test.settle(test.gov.journal.turn(ownWork, () => sweep.step(2)));
  const names = () => [...test.gov.directory.left()].map(({ record }) => record.id.agentId);
  expect(await step()).toBe(true);
  expect(names()).toEqual(['held', 'too', 'last']);
  expect(await step()).toBe(true);
  expect(names()).toEqual(['held', 'too']);
  expect(await step()).toBe(false);
});

test('an agent that has left is in no line of descent, whether operations of it are shown or not', async () => {
  const { test, agent } = await busy();
  const child = agentId('acme/search/child');
  await test.register(child, { parent: bot });
  const line = () => lineageOf(test.gov, operator, child, {}).map(({ key }) => key);
  expect(line()).toEqual(['acme/search/bot', 'acme/search/child']);
  await test.deregister(agent);
  expect(line()).toEqual(['acme/search/child']);
});

test('an agent without operations is forgotten as it leaves', async () => {
  const test = await testGovernance();
  await test.deregister(await test.register(bot));
  expect(test.gov.directory.find(bot)).toBeUndefined();
});

test('what is shown of an agent that has left survives a restart', async () => {
  const { test, agent } = await busy();
  await test.deregister(agent);
  const restarted = await test.crash();
  expect(counts(restarted)).toEqual({ completing: 1, terminated: 2 });
  expect(await restarted.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is not registered' });
});

test('the token stops at once', async () => {
  const { test, agent } = await busy();
  await test.deregister(agent);
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is not registered' });
  await expect(test.deregister(agent)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(test.complete(agent, 't1:s')).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(() => heartbeat(test.gov, bot, agent.token)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
});

test.each(['', 'made-up-token-that-nobody-has-at-all'])('a wrong token %j deregisters nobody', async (token) => {
  const { test } = await busy();
  await expect(test.deregister({ id: bot, token })).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(test.opsOf(bot).size).toBe(3);
});

test('for an agent that comes back the ids of before are free once they are swept', async () => {
  const { test, agent } = await busy();
  await test.deregister(agent);
  const again = await test.register(bot);
  const ids = { traceId: 't1', spanId: 's' };
  expect(await test.check(again, ids)).toMatchObject({ decision: 'deny', reason: 'agent deregistered' });
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  await forget(test);
  expect(await test.check(again, ids)).toMatchObject({ decision: 'allow', opState: 'running' });
});

test('where the store fails, the agent and its operations are as they were', async () => {
  const { test, agent } = await busy();
  // Not where it is among others: it may be listed, and written, later than they are.
  const shown = (op: Op) => ({ ...op, ownPart: undefined, unsavedSince: 0, unsavedPart: undefined });
  const opsNow = () => [...test.opsOf(bot).values()].map(shown).toSorted((a, b) => (a.opId < b.opId ? -1 : 1));
  const before = opsNow();
  const counts = opStates.map((state) => test.gov.ops.count(state));
  test.failure = new Error('the disk is full');
  await expect(test.deregister(agent)).rejects.toMatchObject({ code: 'store_unavailable' });
  test.failure = undefined;
  expect(opsNow()).toEqual(before);
  expect(opStates.map((state) => test.gov.ops.count(state))).toEqual(counts);
  expect(await test.complete(agent, 't1:s')).toMatchObject({ state: 'completing' });
  test.clock.advance(60_000);
  expect(
    test.gov.ops
      .sweep()
      .map((op) => op.opId)
      .toSorted(),
  ).toEqual(['t1:s', 't3:s']);
});

test('a suspension outlives the registration, the restart and the next registration', async () => {
  const { test, agent } = await busy();
  await test.settle(suspendAgent(test.gov, operator, bot, 'odd behaviour'));
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  expect(heartbeat(test.gov, bot, agent.token)).toMatchObject({ suspended: true });
  await test.deregister(agent);
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is not registered' });
  const restarted = await test.crash();
  const again = await restarted.register(bot);
  expect(await restarted.check(again)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  await restarted.settle(resumeAgent(restarted.gov, operator, bot, ''));
  expect(await restarted.check(again)).toMatchObject({ decision: 'allow' });
});

test('to register again after a suspension is to be new again', async () => {
  const { test, agent } = await busy();
  await test.settle(suspendAgent(test.gov, operator, bot, ''));
  await test.deregister(agent);
  await test.register(bot);
  expect((await test.audit()).at(-1)).toMatchObject({ event_type: 'AgentRegistered', payload: { created: true } });
});

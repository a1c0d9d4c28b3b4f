import { expect, test } from 'vitest';
import type { Op } from '../ops/op.ts';
import { opStates } from '../ops/lifecycle.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { heartbeat } from './identify.ts';
import { resumeAgent, suspendAgent } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');

async function busy(): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies('rules: [{ name: all, effect: allow, tools: [search] }]');
  const agent = await test.register(bot);
  for (const traceId of ['t1', 't2', 't3']) await test.check(agent, { traceId, spanId: 's' });
  await test.complete(agent, 't3:s');
  return { test, agent };
}

test('an agent that leaves takes its operations with it: what was in flight is terminated, once and on record', async () => {
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
  expect(test.gov.directory.find(bot)).toBeUndefined();
  expect(opStates.map((state) => test.gov.ops.count(state))).toEqual([0, 0, 0, 0, 0]);
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

test('an agent that comes back starts afresh: the ids of before are free', async () => {
  const { test, agent } = await busy();
  await test.deregister(agent);
  const again = await test.register(bot);
  expect(await test.check(again, { traceId: 't1', spanId: 's' })).toMatchObject({
    decision: 'allow',
    opState: 'running',
  });
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  expect(test.gov.ops.get(test.known(bot), 't1:s').state).toBe('running');
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

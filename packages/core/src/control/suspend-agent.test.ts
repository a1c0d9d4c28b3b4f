import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { control, finish, listen, opOf, run } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { resumeAgent, suspendAgent } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');

async function busy(): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agent = await test.register(bot);
  for (const traceId of ['t1', 't2']) await test.check(agent, { traceId, spanId: 's' });
  await test.complete(agent, 't2:s');
  return { test, agent };
}

test('a suspended agent is denied, and what it had running is paused; to resume lifts both', async () => {
  const { test, agent } = await busy();
  await test.settle(suspendAgent(test.gov, operator, bot, 'odd'));
  expect(await test.check(agent)).toMatchObject({
    decision: 'deny',
    reason: 'agent is suspended',
    policyRule: 'identity',
  });
  const states = () => [...test.opsOf(bot).values()].map((op) => [op.opId, op.state]);
  expect(states()).toEqual([
    ['t1:s', 'paused'],
    ['t2:s', 'completing'],
  ]);
  await test.settle(resumeAgent(test.gov, operator, bot, 'fine again'));
  expect(states()[0]).toEqual(['t1:s', 'running']);
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
});

test('both are on record with who did it and why, and each move has one event', async () => {
  const { test } = await busy();
  const entries = (await test.audit()).length;
  const published = test.events.length;
  await test.settle(suspendAgent(test.gov, operator, bot, 'odd'));
  await test.settle(resumeAgent(test.gov, operator, bot, ''));
  const added = (await test.audit()).slice(entries);
  expect(added.map((entry) => [entry.event_type, entry.op_id, entry.reason, entry.actor.id])).toEqual([
    ['AgentSuspended', null, 'odd', operator.actor.id],
    ['OpStateChanged', 't1:s', 'odd', operator.actor.id],
    ['AgentResumed', null, null, operator.actor.id],
    ['OpStateChanged', 't1:s', 'agent resumed', operator.actor.id],
  ]);
  expect(test.events.slice(published).map((event) => (event.type === 'agent' ? event.change : event.type))).toEqual([
    'suspended',
    'ops_change',
    'resumed',
    'ops_change',
  ]);
});

test('to suspend twice, or to resume what is not suspended, changes nothing', async () => {
  const { test } = await busy();
  await test.settle(resumeAgent(test.gov, operator, bot, ''));
  await test.settle(suspendAgent(test.gov, operator, bot, 'odd'));
  const entries = (await test.audit()).length;
  const { record } = test.known(bot);
  test.clock.advance(1000);
  await test.settle(suspendAgent(test.gov, operator, bot, 'again'));
  expect(test.known(bot).record).toEqual(record);
  expect(await test.audit()).toHaveLength(entries);
});

test('where the store fails, nothing is suspended', async () => {
  const { test, agent } = await busy();
  test.failure = new Error('the disk is full');
  await expect(test.settle(suspendAgent(test.gov, operator, bot, 'odd'))).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  test.failure = undefined;
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
  expect(test.gov.ops.get(test.known(bot), 't1:s').state).toBe('running');
});

test.each<[string, Principal, string]>([
  ['without the scope "write"', { ...operator, scopes: ['read'] }, 'insufficient_scope'],
  ['of another org', { ...operator, scopes: ['admin'], orgId: 'umbrella' }, 'agent_not_found'],
  ['of another team', { ...operator, scopes: ['admin'], orgId: 'acme', teamId: 'other' }, 'agent_not_found'],
])('a caller %s cannot suspend it', async (_, by, code) => {
  const { test, agent } = await busy();
  await expect(suspendAgent(test.gov, by, bot, 'odd')).rejects.toMatchObject({ code });
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
});

test('each operation that it pauses or resumes has a receipt, and its agent is told in order', async () => {
  const { test, agent } = await busy();
  const listener = await listen(test, agent);
  const by = { ...operator, requestId: 'r1' };
  const before = (await test.audit()).length;
  await finish(test, suspendAgent(test.gov, by, bot, 'odd'));
  expect(opOf(test, agent, 't1:s').control).toMatchObject({ action: 'pause', cause: 'suspension', reason: 'odd' });
  await finish(test, resumeAgent(test.gov, by, bot, ''));
  expect(listener.heard).toMatchObject([
    { sequence: 1, opId: 't1:s', signal: 'pause', reason: 'odd' },
    { sequence: 2, opId: 't1:s', signal: 'resume', reason: 'agent resumed' },
  ]);
  const moves = (await test.audit()).slice(before).filter((entry) => entry.event_type === 'OpStateChanged');
  expect(moves.map(({ payload }) => [payload['cause'], payload['request_id'], payload['control_id']])).toEqual(
    listener.heard.map(({ controlId }) => ['suspension', 'r1', controlId]),
  );
});

test('what an operator paused by itself stays paused, before and during a suspension; what it resumed runs', async () => {
  const { test, agent } = await busy();
  await run(test, agent, 't3', 't4');
  await control(test, agent, 't3:s', 'pause', 'by itself');
  await finish(test, suspendAgent(test.gov, operator, bot, ''));
  await control(test, agent, 't4:s', 'resume');
  await control(test, agent, 't4:s', 'pause');
  const listener = await listen(test, agent, 5);
  await finish(test, resumeAgent(test.gov, operator, bot, ''));
  const states = [...test.opsOf(bot).values()].map((op) => [op.opId, op.state]);
  expect(states).toEqual([
    ['t1:s', 'running'],
    ['t2:s', 'completing'],
    ['t3:s', 'paused'],
    ['t4:s', 'paused'],
  ]);
  expect(listener.heard).toMatchObject([{ opId: 't1:s', signal: 'resume' }]);
});

test('what it paused runs on after a restart, too', async () => {
  const { test, agent } = await busy();
  await run(test, agent, 't3');
  await control(test, agent, 't3:s', 'pause');
  await finish(test, suspendAgent(test.gov, operator, bot, ''));
  const next = await test.crash();
  await finish(next, resumeAgent(next.gov, operator, bot, ''));
  expect(opOf(next, agent, 't1:s').state).toBe('running');
  expect(opOf(next, agent, 't3:s').state).toBe('paused');
});

import { expect, test } from 'vitest';
import { finish, listen, opOf } from '../testkit/controls.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { followAgent } from './suspend-agent.ts';

const bot = agentId('acme/search/bot');

async function busy(): Promise<{ test: TestGovernance; agent: TestAgent; record: AgentRecord }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agent = await test.register(bot);
  await test.check(agent, { traceId: 't1', spanId: 's' });
  return { test, agent, record: test.known(bot).record };
}

function follow(test: TestGovernance, record: AgentRecord | undefined, id = bot): Promise<void> {
  return finish(test, followAgent(test.gov, id, record));
}

test('an agent that was registered at another gateway is known here, with its token, and nothing is written', async () => {
  const { test, agent, record } = await busy();
  const other = { ...record, id: agentId('acme/search/other'), tokenHash: test.gov.sha256('x'.repeat(32)) };
  const commits = test.commits.length;
  await follow(test, other, other.id);
  expect(test.commits).toHaveLength(commits);
  expect(await test.check({ id: other.id, token: 'x'.repeat(32) })).toMatchObject({ decision: 'allow' });
  expect(await test.check({ id: bot, token: 'x'.repeat(32) })).toMatchObject({ decision: 'deny' });
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
});

test('a token that was replaced elsewhere stops here at once, and what listened with it ends', async () => {
  const { test, agent, record } = await busy();
  const listener = await listen(test, agent);
  await follow(test, { ...record, tokenHash: test.gov.sha256('new') });
  expect(listener.failure?.code).toBe('unauthenticated');
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
  expect(opOf(test, agent, 't1:s').state).toBe('running');
});

test('a suspension elsewhere pauses what runs here, tells the agent, and is lifted with it', async () => {
  const { test, agent, record } = await busy();
  const listener = await listen(test, agent);
  await follow(test, { ...record, suspension: { at: 5, reason: 'odd', width: 'unbound' } });
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  expect(opOf(test, agent, 't1:s').state).toBe('paused');
  await follow(test, record);
  expect(opOf(test, agent, 't1:s').state).toBe('running');
  expect(listener.signals()).toEqual(['1 pause', '2 resume']);
  const moves = (await test.audit()).filter((entry) => entry.event_type === 'OpStateChanged');
  expect(moves.map(({ actor, reason }) => [actor.kind, reason])).toEqual([
    ['system', 'odd'],
    ['system', 'agent resumed'],
  ]);
});

test('an agent that left elsewhere is gone here, and what it had in flight is terminated and forgotten', async () => {
  const { test, agent } = await busy();
  const events = test.events.length;
  await follow(test, undefined);
  expect(test.gov.directory.find(bot)).toBeUndefined();
  expect(test.gov.ops.withId('t1:s')).toEqual([]);
  expect(test.events.slice(events)).toMatchObject([{ type: 'ops_change', op: { state: 'terminated' } }]);
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
  expect((await test.audit()).at(-2)).toMatchObject({ event_type: 'OpStateChanged', reason: 'agent deregistered' });
});

test('one that left while it was suspended is remembered as such, without what it had in flight', async () => {
  const { test, record } = await busy();
  const suspension = { at: 5, reason: 'odd', width: 'unbound' } as const;
  await follow(test, { ...record, suspension });
  await follow(test, { ...record, suspension, tokenHash: null });
  expect(test.opsOf(bot).size).toBe(0);
  expect(test.known(bot).record.suspension).toEqual(suspension);
});

test('what is unknown here and gone there changes nothing', async () => {
  const { test } = await busy();
  const commits = test.commits.length;
  await follow(test, undefined, agentId('acme/search/nobody'));
  expect(test.commits).toHaveLength(commits);
});

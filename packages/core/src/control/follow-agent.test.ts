import { expect, test } from 'vitest';
import { listen, opOf } from '../testkit/controls.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { applyFact } from '../facts.ts';
import type { Applying } from '../journal/meaning.ts';
import type { AgentChange } from '../tenancy/tenancy-slice.ts';

const bot = agentId('acme/search/bot');
const suspension = { at: 5, reason: 'odd', width: 'unbound' } as const;

const elsewhere: Applying = { isHere: false, seq: 0, onDurable: (effect) => effect() };

function followAgent(gov: TestGovernance['gov'], change: AgentChange): void {
  applyFact(gov, change, elsewhere);
}

async function busy(): Promise<{ test: TestGovernance; agent: TestAgent; record: AgentRecord }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agent = await test.register(bot);
  await test.check(agent, { traceId: 't1', spanId: 's' });
  return { test, agent, record: test.known(bot).record };
}

test('an agent that was registered at another gateway is known here, with its token, and nothing is written', async () => {
  const { test, agent, record } = await busy();
  const other = { ...record, id: agentId('acme/search/other'), tokenHash: test.gov.sha256('x'.repeat(32)) };
  const commits = test.commits.length;
  followAgent(test.gov, { kind: 'agent_saved', agent: other });
  test.turn();
  expect(test.commits).toHaveLength(commits);
  expect(await test.check({ id: other.id, token: 'x'.repeat(32) })).toMatchObject({ decision: 'allow' });
  expect(await test.check({ id: bot, token: 'x'.repeat(32) })).toMatchObject({ decision: 'deny' });
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
});

test('a token that was replaced elsewhere stops here at once, and what listened with it ends', async () => {
  const { test, agent, record } = await busy();
  const listener = await listen(test, agent);
  followAgent(test.gov, { kind: 'agent_saved', agent: { ...record, tokenHash: test.gov.sha256('new') } });
  expect(listener.failure?.code).toBe('unauthenticated');
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
  expect(opOf(test, agent, 't1:s').state).toBe('running');
});

test('a suspension elsewhere holds here until it is lifted there', async () => {
  const { test, agent, record } = await busy();
  followAgent(test.gov, { kind: 'agent_suspended', agent: record, suspension });
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  followAgent(test.gov, { kind: 'agent_resumed', id: bot, width: 'unbound' });
  expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
});

test('an agent that left elsewhere is gone here, with its operations and its stream', async () => {
  const { test, agent } = await busy();
  const listener = await listen(test, agent);
  followAgent(test.gov, { kind: 'agent_removed', id: bot, isKept: false });
  expect(test.gov.directory.find(bot)).toBeUndefined();
  expect(test.gov.ops.withId('t1:s')).toEqual([]);
  expect(listener.failure?.code).toBe('unauthenticated');
  expect(await test.check(agent)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
});

test('one that left while it was suspended is remembered as such, without what it had in flight', async () => {
  const { test, record } = await busy();
  followAgent(test.gov, { kind: 'agent_suspended', agent: record, suspension });
  followAgent(test.gov, { kind: 'agent_removed', id: bot, isKept: false });
  expect(test.opsOf(bot).size).toBe(0);
  expect(test.known(bot).record.suspension).toEqual(suspension);
});

test('what is unknown here and gone there changes nothing', async () => {
  const { test } = await busy();
  const nobody = agentId('acme/search/nobody');
  followAgent(test.gov, { kind: 'agent_removed', id: nobody, isKept: false });
  expect(test.gov.directory.find(nobody)).toBeUndefined();
  expect(test.known(bot)).toBeDefined();
});

import { describe, expect, test } from 'vitest';
import { recordOf } from '../ops/op.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { completeAction } from '../testkit/commands.ts';

/** The victim has an operation in flight; the others know its trace and span. */
async function governed(): Promise<{ test: TestGovernance; victim: TestAgent; others: TestAgent[] }> {
  const test = await testGovernance();
  await test.policies('rules: [{ name: reading, effect: allow, tools: [search] }]');
  const victim = await test.register(agentId('acme/search/bot'));
  const others = [
    await test.register(agentId('acme/search/other')),
    await test.register(agentId('acme/other/bot')),
    await test.register(agentId('umbrella/search/bot')),
    await test.register(agentId('//bot')),
  ];
  await test.check(victim, { traceId: 't', spanId: 's', action: useTool('search'), summary: 'mine', runId: 'run-1' });
  return { test, victim, others };
}

describe('an operation of one agent', () => {
  test('is not seen by another agent that asks with the same ids: it gets an operation of its own', async () => {
    const { test, victim, others } = await governed();
    const op = test.gov.ops.get(test.known(victim.id), 't:s');
    const before = recordOf(op);
    for (const other of others) {
      // If this were the same operation, the replay table would answer "used for another request".
      const answer = await test.check(other, { traceId: 't', spanId: 's', action: useTool('delete') });
      expect(answer).toMatchObject({ decision: 'deny', policyRule: 'default', opId: 't:s', opState: 'terminated' });
      const own = test.gov.ops.get(test.known(other.id), 't:s');
      expect(own).not.toBe(op);
      expect(recordOf(own).summary).toBe('');
    }
    expect(recordOf(op)).toEqual(before);
    expect(op.state).toBe('running');
  });

  test('cannot be completed by another agent', async () => {
    const { test, victim, others } = await governed();
    for (const other of others) {
      await expect(test.complete(other, 't:s')).rejects.toMatchObject({ code: 'op_not_found' });
    }
    expect(test.gov.ops.get(test.known(victim.id), 't:s').state).toBe('running');
  });

  test.each([
    ['no token', ''],
    ['a made-up token', 'x'.repeat(40)],
  ])('is neither seen nor touched by a caller with %s', async (_, token) => {
    const { test, victim } = await governed();
    const op = test.gov.ops.get(test.known(victim.id), 't:s');
    const before = recordOf(op);
    const answer = await test.check({ ...victim, token }, { traceId: 't', spanId: 's', action: useTool('search') });
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'identity', opId: '', opState: '' });
    const completion = completeAction(test.gov, {
      agentId: victim.id,
      token,
      opId: 't:s',
      actualCostMicros: 1,
      outcome: 'failed',
      detail: '',
    });
    await expect(completion).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(recordOf(op)).toEqual(before);
  });

  test("is not touched by the victim's name with another agent's token", async () => {
    const { test, victim, others } = await governed();
    const op = test.gov.ops.get(test.known(victim.id), 't:s');
    const before = recordOf(op);
    for (const other of others) {
      const thief = { id: victim.id, token: other.token };
      expect(await test.check(thief, { traceId: 't', spanId: 's' })).toMatchObject({
        policyRule: 'identity',
        opId: '',
      });
      await expect(test.complete(thief, 't:s')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    expect(recordOf(op)).toEqual(before);
  });

  test('survives that another agent leaves', async () => {
    const { test, victim, others } = await governed();
    for (const other of others) await test.deregister(other);
    expect(test.gov.ops.get(test.known(victim.id), 't:s').state).toBe('running');
  });
});

test('ids that the gateway makes up belong to nobody else', async () => {
  const { test, victim, others } = await governed();
  const answers = [];
  for (const agent of [victim, ...others, victim]) answers.push(await test.check(agent, { action: useTool('search') }));
  const ids = answers.map((answer) => answer.opId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
});

import { describe, expect, test } from 'vitest';
import { approve, person } from '../testkit/approvals.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const bot = agentId('acme/search/bot');
const policy = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [ask] }]';

async function waiting(): Promise<{ test: TestGovernance; agent: TestAgent; approvalId: string }> {
  const test = await testGovernance();
  await test.policies(policy);
  const agent = await test.register(bot);
  const asked = { traceId: 't', spanId: 's', action: useTool('ask'), estimatedCostMicros: 100 };
  const { approvalId } = await test.check(agent, asked);
  return { test, agent, approvalId };
}

const cancelled = { outcome: 'cancelled', detail: 'nobody answered' } as const;

describe('an agent that calls off what waits for people', () => {
  test('ends the operation and its approval, each with one entry and one event', async () => {
    const { test, agent, approvalId } = await waiting();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    const record = await test.complete(agent, 't:s', { ...cancelled, actualCostMicros: 40 });
    expect(record).toMatchObject({ opId: 't:s', state: 'terminated', reason: 'called off by its agent' });
    expect((await test.audit()).slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        op_id: 't:s',
        actor: { kind: 'agent' },
        reason: 'called off by its agent',
        payload: { from: 'pending', to: 'terminated', trigger: 'terminate', ...cancelled },
      },
      { event_type: 'ApprovalCancelled', actor: { kind: 'agent' }, payload: { approval_id: approvalId } },
    ]);
    expect(test.events.slice(published)).toMatchObject([
      { type: 'ops_change', op: { state: 'terminated' } },
      { type: 'approval', change: 'cancelled', approval: { id: approvalId, state: 'cancelled' } },
    ]);
    const { spent, reserved } = test.gov.ledger.read({ tier: 'agent', ...bot });
    expect([spent.day, reserved]).toEqual([0, 0]);
  });

  test('is not told to stop what it has called off', async () => {
    const { test, agent } = await waiting();
    await test.complete(agent, 't:s', cancelled);
    expect([...test.gov.control.outbox(bot).queued()]).toEqual([]);
  });

  test('changes nothing the second time, and a verdict comes too late', async () => {
    const { test, agent, approvalId } = await waiting();
    await test.complete(agent, 't:s', cancelled);
    const entries = (await test.audit()).length;
    await expect(test.complete(agent, 't:s', cancelled)).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(approve(test, approvalId, person('alice'))).rejects.toMatchObject({ code: 'already_decided' });
    expect((await test.audit()).length).toBe(entries);
    const again = { traceId: 't', spanId: 's', action: useTool('ask'), estimatedCostMicros: 100 };
    expect(await test.check(agent, again)).toMatchObject({ decision: 'deny', reason: 'called off by its agent' });
  });

  test('completes it if it was approved before', async () => {
    const { test, agent, approvalId } = await waiting();
    await approve(test, approvalId, person('alice'));
    expect(await test.complete(agent, 't:s', cancelled)).toMatchObject({ state: 'completing', costMicros: 100 });
    expect(await test.store.approvals.approval(approvalId)).toMatchObject({ state: 'approved' });
  });

  test('finds it called off after a crash', async () => {
    const { test, agent, approvalId } = await waiting();
    await test.complete(agent, 't:s', cancelled);
    const next = await test.crash();
    expect(next.opsOf(bot).get('t:s')).toMatchObject({ state: 'terminated', reservedMicros: 0 });
    expect(await next.store.approvals.approval(approvalId)).toMatchObject({ state: 'cancelled' });
    expect(next.gov.approvals.openCount).toBe(0);
  });

  test('finds it waiting if that could not be made durable', async () => {
    const { test, agent } = await waiting();
    test.failure = new Error('disk full');
    await expect(test.complete(agent, 't:s', cancelled)).rejects.toMatchObject({ code: 'store_unavailable' });
    test.failure = undefined;
    expect(test.opsOf(bot).get('t:s')).toMatchObject({ state: 'pending', reservedMicros: 100 });
    expect(test.gov.approvals.openCount).toBe(1);
  });
});

test.each(['succeeded', 'failed', null] as const)('with the outcome %s it waits on', async (outcome) => {
  const { test, agent } = await waiting();
  await expect(test.complete(agent, 't:s', { outcome })).rejects.toMatchObject({ code: 'invalid_transition' });
  expect(test.opsOf(bot).get('t:s')).toMatchObject({ state: 'pending', reservedMicros: 100 });
});

test('what another agent asked is not there to be called off', async () => {
  const { test } = await waiting();
  const other = await test.register(agentId('acme/search/other'));
  await expect(test.complete(other, 't:s', cancelled)).rejects.toMatchObject({ code: 'op_not_found' });
});

test.each([
  [{ actualCostMicros: -1 }, 'actual_cost_micros'],
  [{ detail: 'x'.repeat(8193) }, 'detail'],
])('malformed, as with %j, it changes nothing', async (members, field) => {
  const { test, agent } = await waiting();
  await expect(test.complete(agent, 't:s', { ...cancelled, ...members })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(field),
  });
  expect(test.opsOf(bot).get('t:s')).toMatchObject({ state: 'pending' });
});

import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { moveOp } from './move-op.ts';
import { OpsCheckpoint } from './checkpoint.ts';
import type { RegisterOp } from './register-op.ts';
import { registerOp } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');
const policy = 'default: allow\nrules:\n  - {name: never, effect: deny, tools: [delete]}\n';

async function governed(): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies(policy);
  return { test, agent: await test.register(bot) };
}

function register(test: TestGovernance, members: Partial<Omit<RegisterOp, 'by'>> = {}, by: Principal = operator) {
  const request = { agent: bot, traceId: 't', spanId: 's', summary: '', ...members };
  return test.settle(registerOp(test.gov, by, request));
}

describe('registering an operation', () => {
  test('makes it pending, with one entry by the caller and one event', async () => {
    const { test } = await governed();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    const { op, created } = await register(test, { summary: 'look it up' }, { ...operator, requestId: 'r-1' });
    expect(created).toBe(true);
    const now = test.clock.now();
    expect(op).toMatchObject({
      opId: 't:s',
      agent: bot,
      state: 'pending',
      registeredAt: now,
      updatedAt: now,
      actionType: null,
      summary: 'look it up',
      digest: '',
    });
    expect(test.events.slice(published)).toMatchObject([
      { type: 'ops_change', agent: bot, op: { opId: 't:s', state: 'pending', summary: 'look it up' } },
    ]);
    expect((await test.audit()).slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        actor: operator.actor,
        lineage: { org_id: 'acme', team_id: 'search', agent_id: 'bot' },
        op_id: 't:s',
        trace_id: 't',
        span_id: 's',
        decision: null,
        payload: { from: null, to: 'pending', trigger: 'register', summary: 'look it up', request_id: 'r-1' },
      },
    ]);
  });

  test('of a known operation answers with it as it is, and writes and publishes nothing', async () => {
    const { test, agent } = await governed();
    await test.check(agent, { traceId: 't', spanId: 's', summary: 'the first' });
    const entries = (await test.audit()).length;
    const published = test.events.length;
    test.clock.advance(1000);
    const { op, created } = await register(test, { summary: 'the second' });
    expect(created).toBe(false);
    expect(op).toMatchObject({ state: 'running', summary: 'the first', registeredAt: test.clock.now() - 1000 });
    expect(await test.audit()).toHaveLength(entries);
    expect(test.events).toHaveLength(published);
  });

  test('makes up both ids where both are empty', async () => {
    const { test } = await governed();
    const { op } = await register(test, { traceId: '', spanId: '' });
    expect(op.opId).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
    expect((await register(test, { traceId: '', spanId: '' })).op.opId).not.toBe(op.opId);
  });

  test.each([
    ['a trace without a span', { spanId: '' }, 'span_id'],
    ['a span without a trace', { traceId: '' }, 'trace_id'],
    ['a colon in an id', { traceId: 'a:b' }, 'trace_id'],
    ['129 characters', { spanId: 'x'.repeat(129) }, 'span_id'],
    ['a long summary', { summary: 'x'.repeat(8193) }, 'summary'],
  ])('with %s is refused', async (_what, members, field) => {
    const { test } = await governed();
    const entries = (await test.audit()).length;
    await expect(register(test, members)).rejects.toMatchObject({ code: 'invalid_argument', facts: { field } });
    expect(await test.audit()).toHaveLength(entries);
  });

  test('of an agent that is unknown, has left, or is of another tenant is refused in the same words', async () => {
    const { test } = await governed();
    const left = await test.register(agentId('acme/search/left'));
    await test.deregister(left);
    const tenant = { ...operator, orgId: 'umbrella' };
    const team = { ...operator, orgId: 'acme', teamId: 'ads' };
    const tries: [RegisterOp['agent'], Principal][] = [
      [agentId('acme/search/nobody'), operator],
      [left.id, operator],
      [bot, tenant],
      [bot, team],
    ];
    for (const [agent, by] of tries) {
      const message = `there is no agent "${agent.orgId}/${agent.teamId}/${agent.agentId}"`;
      await expect(register(test, { agent }, by)).rejects.toMatchObject({ code: 'agent_not_found', message });
    }
    expect(test.gov.ops.withId('t:s')).toEqual([]);
  });

  test('needs the scope "write"', async () => {
    const { test } = await governed();
    await expect(register(test, {}, { ...operator, scopes: ['read'] })).rejects.toMatchObject({
      code: 'insufficient_scope',
      facts: { required_scope: 'write' },
    });
  });

  test('keeps secrets in the summary out of the record and the log', async () => {
    const { test } = await governed();
    const secret = `ghp_${'x'.repeat(36)}`;
    const { op } = await register(test, { summary: `with ${secret}` });
    expect(op.summary).toBe('with [redacted]');
    expect(JSON.stringify(await test.audit())).not.toContain(secret);
  });

  test('is taken back where the store fails', async () => {
    const { test } = await governed();
    const published = test.events.length;
    test.failure = new Error('the disk is full');
    await expect(register(test)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(test.gov.ops.withId('t:s')).toEqual([]);
    expect(test.events).toHaveLength(published);
    test.failure = undefined;
    expect(await register(test)).toMatchObject({ created: true });
  });

  test('of a suspended agent is possible: only its checks are denied', async () => {
    const { test } = await governed();
    test.gov.directory.put({ ...test.known(bot).record, suspension: { at: 0, reason: '', width: 'unbound' } }, 0);
    expect(await register(test)).toMatchObject({ created: true, op: { state: 'pending' } });
  });
});

describe('the first check of a registered operation', () => {
  test.each([
    ['search', 'allow', 'running'],
    ['delete', 'deny', 'terminated'],
  ])('decides it: with the tool %s it is %s', async (tool, decision, state) => {
    const { test, agent } = await governed();
    const { op } = await register(test, { summary: 'registered' });
    test.clock.advance(500);
    const answer = await test.check(agent, { traceId: 't', spanId: 's', action: useTool(tool) });
    expect(answer).toMatchObject({ decision, opId: 't:s' });
    const known = test.gov.ops.get(test.known(bot), 't:s');
    expect(known).toMatchObject({ state, registeredAt: op.registeredAt, summary: 'registered', resource: tool });
  });

  test('is denied where it was terminated before', async () => {
    const { test, agent } = await governed();
    await register(test);
    const op = test.gov.ops.get(test.known(bot), 't:s');
    moveOp(test.gov, op, 'terminate', { actor: operator.actor, reason: 'not now' });
    test.turn();
    expect(await test.check(agent, { traceId: 't', spanId: 's' })).toMatchObject({
      decision: 'deny',
      reason: 'not now',
    });
  });
});

describe('after a crash', () => {
  test.each([
    ['from its entry', 0],
    ['from its row', 3],
  ])('a registered operation is back %s, and its first check decides it', async (_how, ticks) => {
    const { test, agent } = await governed();
    const checkpoint = new OpsCheckpoint(test.gov, 10_000, 60_000);
    const { op } = await register(test, { summary: 'still there' });
    for (let tick = 0; tick < ticks; tick++) {
      test.clock.advance(10_000);
      while (checkpoint.step(200)) test.turn();
      test.turn();
    }
    const again = await test.crash();
    expect(again.gov.ops.get(again.known(bot), 't:s')).toMatchObject({
      state: 'pending',
      summary: 'still there',
      registeredAt: op.registeredAt,
      digest: '',
    });
    expect(await again.check(agent, { traceId: 't', spanId: 's' })).toMatchObject({ decision: 'allow' });
    const third = await again.crash();
    const known = third.gov.ops.get(third.known(bot), 't:s');
    expect(known).toMatchObject({ state: 'running', registeredAt: op.registeredAt });
  });

  test('one that was registered under the id of an ended one is another operation', async () => {
    const { test } = await governed();
    await register(test, { summary: 'the first' });
    const first = test.gov.ops.get(test.known(bot), 't:s');
    moveOp(test.gov, first, 'terminate', { actor: operator.actor, reason: '' });
    test.turn();
    test.clock.advance(60_000);
    expect(test.gov.ops.sweep()).toEqual([first]);
    const { op } = await register(test);
    const again = await test.crash();
    expect(again.gov.ops.get(again.known(bot), 't:s')).toMatchObject({
      state: 'pending',
      summary: '',
      registeredAt: op.registeredAt,
    });
  });
});

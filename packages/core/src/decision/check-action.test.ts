import { ingest } from '../testkit/registered-ops.ts';
import { describe, expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import { moveOp } from '../ops/move-op.ts';
import { opStates } from '../ops/lifecycle.ts';
import { finish } from '../testkit/controls.ts';
import { agentId, checkOf, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { checkAction, checkActions } from './check-action.ts';

const policy = `
name: starter
rules:
  - { name: reading, effect: allow, tools: [search] }
  - { name: no-deletes, effect: deny, tools: [delete] }
`;
const bot = agentId('acme/search/bot');

async function governed(): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies(policy);
  return { test, agent: await test.register(bot) };
}

function opsChanges(test: TestGovernance): string[] {
  return test.events.flatMap((event) => (event.type === 'ops_change' ? [`${event.op.opId} ${event.op.state}`] : []));
}

describe('a check', () => {
  test('that policy allows: ingested, then running, with one entry', async () => {
    const { test, agent } = await governed();
    const before = (await test.audit()).length;
    const answer = await test.check(agent, { traceId: 't', spanId: 's', action: useTool('search', { q: 'x' }) });
    expect(answer).toMatchObject({
      decision: 'allow',
      reason: 'allowed by rule starter/reading',
      policyRule: 'starter/reading',
      approvalId: '',
      latencyUs: 0,
      opId: 't:s',
      opState: 'running',
    });
    expect(opsChanges(test)).toEqual(['t:s pending', 't:s running']);
    const entries = (await test.audit()).slice(before);
    expect(entries).toMatchObject([
      {
        event_type: 'ActionAllowed',
        decision: 'allow',
        reason: answer.reason,
        policy_rule: answer.policyRule,
        policy_version: test.gov.policies.version,
        op_id: 't:s',
        trace_id: 't',
        span_id: 's',
        actor: { id: 'acme/search/bot', kind: 'agent', label: 'bot' },
        lineage: {
          org_id: 'acme',
          team_id: 'search',
          agent_id: 'bot',
          root_agent_id: 'bot',
          parent_agent_id: null,
          depth: 0,
        },
        payload: {
          action: { type: 'tool_call', tool: 'search', args: { q: 'x' } },
          op_state: 'running',
          resource: 'search',
        },
      },
    ]);
  });

  test.each([
    [
      'a rule',
      'delete',
      'starter/no-deletes',
      'denied by rule starter/no-deletes; allowed here unless denied: tool_call of search',
    ],
    [
      'the default',
      'other',
      'default',
      'no rule allows tool_call of "other", and the default is deny; allowed here: tool_call of search',
    ],
  ])('that %s denies: ingested, then terminated, with one entry', async (_, tool, policyRule, reason) => {
    const { test, agent } = await governed();
    const before = (await test.audit()).length;
    const answer = await test.check(agent, { traceId: 't', spanId: 's', action: useTool(tool) });
    expect(answer).toMatchObject({ decision: 'deny', reason, policyRule, opId: 't:s', opState: 'terminated' });
    expect(opsChanges(test)).toEqual(['t:s pending', 't:s terminated']);
    const entries = (await test.audit()).slice(before);
    expect(entries).toMatchObject([{ event_type: 'ActionDenied', decision: 'deny', reason, policy_rule: policyRule }]);
  });

  test.each([
    ['search', 'allow', 'running'],
    ['delete', 'deny', 'terminated'],
  ])(
    'of %s publishes its transitions and then the decision, once each, with what was answered',
    async (tool, decision, state) => {
      const { test, agent } = await governed();
      const published = test.events.length;
      const { reason, policyRule } = await test.check(agent, { traceId: 't', spanId: 's', action: useTool(tool) });
      expect(test.events.slice(published)).toMatchObject([
        { type: 'ops_change', agent: agent.id, op: { state: 'pending' } },
        { type: 'ops_change', agent: agent.id, op: { state } },
        { type: 'decision', agent: agent.id, at: test.clock.now(), decision, reason, policyRule, opId: 't:s' },
      ]);
    },
  );

  test('that people are asked about is announced with what it wants: no other event says it', async () => {
    const test = await testGovernance();
    await test.policies('{ name: a, rules: [{ name: ask, effect: require_approval, tools: [refund] }] }');
    const agent = await test.register(bot);
    const { policyRule } = await test.check(agent, { traceId: 't', spanId: 's', action: useTool('refund') });
    expect(test.events.filter(({ type }) => type === 'ops_change')).toMatchObject([
      { op: { opId: 't:s', state: 'pending', actionType: 'tool_call', resource: 'refund', policyRule } },
    ]);
  });

  test('shows that its agent is alive', async () => {
    const { test, agent } = await governed();
    test.clock.advance(600_000);
    await test.check(agent, { action: useTool('search') });
    expect(test.known(bot).lastSeenAt).toBe(test.clock.now());
  });

  test('with no policy loaded is denied, saying so', async () => {
    const test = await testGovernance();
    const agent = await test.register(bot);
    expect(await test.check(agent)).toMatchObject({
      decision: 'deny',
      reason: 'no policy loaded',
      policyRule: 'default',
    });
  });

  test('is answered only once it is durable', async () => {
    const { test, agent } = await governed();
    let answered = false;
    const answer = checkAction(test.gov, checkOf({ agentId: bot, token: agent.token })).then(() => (answered = true));
    for (let i = 0; i < 5; i++) await Promise.resolve();
    expect(answered).toBe(false);
    test.turn();
    await answer;
    expect(answered).toBe(true);
  });

  test('says how long it took, on the clock that never jumps', async () => {
    const { test, agent } = await governed();
    const answer = checkAction(test.gov, checkOf({ agentId: bot, token: agent.token }));
    test.clock.advance(1.25);
    test.clock.setWallClock(-5000);
    test.turn();
    expect((await answer).latencyUs).toBe(1250);
  });

  test('without ids gets them made up', async () => {
    const { test, agent } = await governed();
    const { opId } = await test.check(agent);
    expect(opId).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
    expect((await test.audit()).at(-1)).toMatchObject({
      op_id: opId,
      trace_id: opId.split(':')[0],
      span_id: opId.split(':')[1],
    });
  });

  test('remembers what it was about', async () => {
    const { test, agent } = await governed();
    await test.check(agent, {
      traceId: 't',
      spanId: 's',
      action: useTool('search'),
      runId: 'run-1',
      summary: 'look it up',
      estimatedCostMicros: 12,
      caller: agentId('acme/search/boss'),
    });
    expect(test.gov.ops.get(test.known(bot), 't:s')).toMatchObject({
      actionType: 'tool_call',
      resource: 'search',
      runId: 'run-1',
      summary: 'look it up',
      costMicros: 12,
      policyRule: 'starter/reading',
      reason: 'allowed by rule starter/reading',
    });
    expect((await test.audit()).at(-1)?.payload).toMatchObject({
      claimed_caller: 'acme/search/boss',
      cost_micros: 12,
      run_id: 'run-1',
      summary: 'look it up',
    });
  });
});

describe('a termination that comes while a check is being decided', () => {
  test('wins: the answer is DENY, and both are on record', async () => {
    const { test, agent } = await governed();
    const before = (await test.audit()).length;
    const answer = checkAction(
      test.gov,
      checkOf({ agentId: bot, token: agent.token, traceId: 't', spanId: 's', action: useTool('search') }),
    );
    moveOp(test.gov, test.gov.ops.get(test.known(bot), 't:s'), 'terminate', { actor: system, reason: 'stop' });
    test.turn();
    expect(await answer).toMatchObject({ decision: 'deny', reason: 'operation is terminated', opState: 'terminated' });
    expect(opsChanges(test)).toEqual(['t:s pending', 't:s running', 't:s terminated']);
    expect((await test.audit()).slice(before).map((entry) => entry.event_type)).toEqual([
      'ActionAllowed',
      'OpStateChanged',
    ]);
  });

  test('of an operation registered beforehand: it is denied, and policy does not bring it back', async () => {
    const { test, agent } = await governed();
    const { op } = ingest(test.gov, test.known(bot), 't:s');
    moveOp(test.gov, op, 'terminate', { actor: system, reason: 'stop' });
    test.turn();
    const answer = await test.check(agent, { traceId: 't', spanId: 's', action: useTool('search') });
    expect(answer).toMatchObject({ decision: 'deny', reason: 'stop', opState: 'terminated' });
  });
});

describe('a batch', () => {
  test('is judged one by one, in order, and made durable at once', async () => {
    const { test, agent } = await governed();
    const attempts = test.commits.length;
    const requests = ['search', 'delete', 'other', 'search'].map((tool, index) =>
      checkOf({
        agentId: bot,
        token: index === 3 ? '' : agent.token,
        traceId: `t${index}`,
        spanId: 's',
        action: useTool(tool),
      }),
    );
    const answers = await finish(test, checkActions(test.gov, requests));
    expect(answers.map((answer) => answer.policyRule)).toEqual([
      'starter/reading',
      'starter/no-deletes',
      'default',
      'identity',
    ]);
    expect(test.commits).toHaveLength(attempts + 1);
    expect(test.commits.at(-1)?.entries.map((entry) => entry.draft.traceId)).toEqual(['t0', 't1', 't2', 't3']);
  });

  test('of nothing answers nothing', async () => {
    const { test } = await governed();
    expect(await finish(test, checkActions(test.gov, []))).toEqual([]);
  });
});

describe('where the store fails', () => {
  test('nothing is decided, nothing remains, and nothing is published', async () => {
    const { test, agent } = await governed();
    const published = test.events.length;
    const entries = (await test.audit()).length;
    test.failure = new Error('the disk is full');
    for (const tool of ['search', 'delete']) {
      const check = test.check(agent, { traceId: tool, spanId: 's', action: useTool(tool) });
      await expect(check).rejects.toMatchObject({ code: 'store_unavailable' });
    }
    expect(test.opsOf(bot).size).toBe(0);
    expect(opStates.map((state) => test.gov.ops.count(state))).toEqual([0, 0, 0, 0, 0]);
    expect(test.events).toHaveLength(published);
    expect(await test.audit()).toHaveLength(entries);
  });

  test('the same check succeeds once the store does', async () => {
    const { test, agent } = await governed();
    test.failure = new Error('the disk is full');
    const request = { traceId: 't', spanId: 's', action: useTool('search') };
    await expect(test.check(agent, request)).rejects.toMatchObject({ code: 'store_unavailable' });
    test.failure = undefined;
    expect(await test.check(agent, request)).toMatchObject({ decision: 'allow', opState: 'running' });
    expect((await test.audit()).at(-1)?.payload).not.toHaveProperty('replay');
  });

  test('an operation registered beforehand is as it was', async () => {
    const { test, agent } = await governed();
    const { op } = ingest(test.gov, test.known(bot), 't:s');
    test.gov.ops.change(op, { summary: 'planned' });
    const before = { ...op };
    test.failure = new Error('the disk is full');
    const request = {
      traceId: 't',
      spanId: 's',
      action: useTool('search'),
      summary: 'now',
      runId: 'r',
      estimatedCostMicros: 9,
    };
    await expect(test.check(agent, request)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(op).toEqual(before);
  });

  test('a replay that could not be recorded is not answered either', async () => {
    const { test, agent } = await governed();
    const request = { traceId: 't', spanId: 's', action: useTool('search') };
    await test.check(agent, request);
    test.failure = new Error('the disk is full');
    await expect(test.check(agent, request)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(test.gov.ops.get(test.known(bot), 't:s').state).toBe('running');
  });
});

import { status } from '@grpc/grpc-js';
import type { BatchCheckRequest, CheckActionRequest, CompleteActionRequest } from '@reeve/contract';
import { Decision } from '@reeve/contract';
import { describe, expect, test } from 'vitest';
import { startClient } from '../test/client.ts';
import { allowing, answering, denying, unavailable } from '../test/scripted-answers.ts';
import { Agent } from './agent.ts';
import {
  ActionDeniedError,
  ReeveClosed,
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveInvalidTransition,
  ReeveOpNotFound,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from './index.ts';

const opIds = (messages: readonly CheckActionRequest[]) => messages.map((each) => `${each.traceId}:${each.spanId}`);

test('an answer is told in words, with all that the gateway said', async () => {
  const limit = { tier: 'team', period: 'day', limitMicros: 10, spentMicros: 9, status: 'LimitExceeded' };
  await using client = await startClient({
    checkAction: (request, nth) => {
      if (nth === 1) return allowing(request);
      if (nth === 2) return answering(Decision.DENY, request, { reason: 'over the limit', limit });
      return answering(Decision.PENDING, request, { approvalId: 'ap-1', opState: 'pending', reason: 'needs approval' });
    },
  });
  const { agent } = client;
  const ids = { traceId: 't1', spanId: 's1' };
  expect(await agent.check({ tool: 'search' }, ids)).toEqual({
    decision: 'allow',
    allowed: true,
    reason: '',
    policyRule: 'test/rule',
    opId: 't1:s1',
    ...ids,
    opState: 'running',
    approvalId: undefined,
    limit: undefined,
    judgeResult: false,
    judgePrompt: false,
    decisionLatencyUs: 7,
    source: 'gateway',
  });
  expect(await agent.check({ tool: 'search' })).toMatchObject({
    decision: 'deny',
    allowed: false,
    reason: 'over the limit',
    limit: { tier: 'team', period: 'day', limitMicros: 10, spentMicros: 9 },
  });
  expect(await agent.check({ tool: 'search' })).toMatchObject({
    decision: 'pending',
    allowed: false,
    approvalId: 'ap-1',
    opState: 'pending',
  });
});

test('everything that is said of an action arrives', async () => {
  await using client = await startClient();
  const caller = { orgId: 'acme', agentId: 'boss' };
  const details = { traceId: 't', spanId: 's', runId: 'r', summary: 'looks up', estimatedCostMicros: 12_500, caller };
  await client.agent.check({ type: 'llm_call', model: 'm', promptTokens: 5 }, details);
  const [message] = client.gateway.messages('checkAction');
  expect(message).toMatchObject({
    agentId: { orgId: 'acme', teamId: 'core', agentId: 'bot' },
    traceId: 't',
    spanId: 's',
    runId: 'r',
    summary: 'looks up',
    estimatedCostMicros: 12_500,
    callerAgentId: { orgId: 'acme', teamId: '', agentId: 'boss' },
    context: { action: { $case: 'llmCall', value: { model: 'm', promptTokens: 5, maxOutputTokens: 0 } } },
  });
});

describe('on behalf of a user', () => {
  test('a token goes along with one call', async () => {
    await using client = await startClient();
    await client.agent.check({ tool: 'search' }, { subjectToken: 'jwt-1' });
    await client.agent.check({ tool: 'search' });
    const sent = client.gateway.messages('checkAction').map(({ subjectToken }) => subjectToken);
    expect(sent).toEqual(['jwt-1', undefined]);
  });

  test('onBehalfOf puts it into every check, and a call may have its own', async () => {
    await using client = await startClient();
    const agent = client.agent.onBehalfOf('jwt-1');
    expect(agent).toBeInstanceOf(Agent);
    expect(agent.id).toEqual(client.agent.id);
    await agent.check({ tool: 'search' });
    await agent.check({ tool: 'search' }, { subjectToken: undefined });
    await agent.decision({ tool: 'search' }, { runId: 'r' });
    await agent.run({ tool: 'search' }, () => 1);
    await agent.guard('search', (q: string) => q)('x');
    await agent.check({ tool: 'search' }, { subjectToken: 'jwt-2' });
    await agent.onBehalfOf('jwt-3').check({ tool: 'search' });
    await client.agent.check({ tool: 'search' });
    const sent = client.gateway.messages('checkAction').map(({ subjectToken }) => subjectToken);
    expect(sent).toEqual([...Array<string>(5).fill('jwt-1'), 'jwt-2', 'jwt-3', undefined]);
    await agent.checkMany([{ action: { tool: 'a' } }, { action: { tool: 'b' }, subjectToken: 'jwt-2' }]);
    const batch = client.gateway.messages('batchCheck')[0] as unknown as BatchCheckRequest;
    expect(batch.requests.map(({ subjectToken }) => subjectToken)).toEqual(['jwt-1', 'jwt-2']);
  });

  test('what is not a check is the agent itself', async () => {
    await using client = await startClient();
    const agent = client.agent.onBehalfOf('jwt-1');
    const { opId } = await agent.check({ tool: 'search' });
    expect(agent.operation(opId)?.id).toBe(opId);
    await agent.complete(opId);
    await agent.close();
    await expect(client.agent.check({ tool: 'search' })).rejects.toThrow();
  });

  test('an empty token is refused: it would mean nobody', async () => {
    await using client = await startClient();
    expect(() => client.agent.onBehalfOf('')).toThrow('subjectToken');
  });
});

test('a retry asks about the same operation', async () => {
  await using client = await startClient({
    checkAction: (request, nth) => (nth <= 2 ? unavailable() : nth === 3 ? 'cut' : allowing(request)),
  });
  const answer = await client.agent.check({ tool: 'search' });
  expect(answer).toMatchObject({ allowed: true, source: 'gateway' });
  const asked = opIds(client.gateway.messages('checkAction'));
  expect(asked).toEqual(Array.from({ length: 4 }, () => answer.opId));
});

test('two checks are two operations', async () => {
  await using client = await startClient();
  const first = await client.agent.check({ tool: 'search' });
  const second = await client.agent.check({ tool: 'search' });
  expect(first.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(first.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(second.opId).not.toBe(first.opId);
});

test('retries end with the budget, and then failures are told at once', async () => {
  await using client = await startClient({ checkAction: () => unavailable('overloaded') }, { retry: { burst: 3 } });
  for (let i = 0; i < 5; i++) {
    const answer = await client.agent.check({ tool: 'search' });
    expect(answer).toMatchObject({ decision: 'deny', reason: 'gateway unreachable: overloaded', source: 'sdk' });
  }
  expect(client.gateway.count('checkAction')).toBe(5 + 3);
});

test('without retries there is one attempt', async () => {
  await using client = await startClient({ checkAction: () => unavailable() }, { retry: { burst: 0 } });
  expect(await client.agent.check({ tool: 'search' })).toMatchObject({ allowed: false, source: 'sdk' });
  expect(client.gateway.count('checkAction')).toBe(1);
});

test('no answer within the deadline is a denial', async () => {
  await using client = await startClient({ checkAction: () => 'silence' });
  const answer = await client.agent.check({ tool: 'search' }, { deadlineMs: 100 });
  expect(answer).toMatchObject({
    decision: 'deny',
    allowed: false,
    reason: 'gateway unreachable: no answer within 100 ms',
    source: 'sdk',
  });
});

test('no connection is a denial that names the cause', async () => {
  await using client = await startClient();
  await client.gateway.away();
  const answer = await client.agent.check({ tool: 'search' }, { deadlineMs: 1000 });
  expect(answer).toMatchObject({ decision: 'deny', source: 'sdk' });
  expect(answer.reason).toMatch(/^gateway unreachable: .*(ECONNREFUSED|ECONNRESET|Connection dropped)/);
});

test('a gateway that comes back within the deadline is waited for, at the price of few retries', async () => {
  await using client = await startClient({}, { retry: { burst: 2 } });
  const comeBack = await client.gateway.away();
  const checks = [client.agent.check({ tool: 'a' }), client.agent.check({ tool: 'b' })];
  await new Promise((resolve) => setTimeout(resolve, 300));
  await comeBack();
  for (const answer of await Promise.all(checks)) expect(answer).toMatchObject({ allowed: true, source: 'gateway' });
});

test('with onUnavailable: throw it is an error', async () => {
  await using client = await startClient({ checkAction: () => 'silence' }, { onUnavailable: 'throw' });
  const check = client.agent.check({ tool: 'search' }, { deadlineMs: 100 });
  await expect(check).rejects.toBeInstanceOf(ReeveUnavailable);
});

test.each([
  ['another operation', { opId: 'other:op' }],
  ['no operation', { opId: '' }],
  ['no decision', { decision: Decision.DECISION_UNSPECIFIED }],
  ['an unknown decision', { decision: 9 as Decision }],
])('an answer that allows %s allows nothing', async (_, wrong) => {
  await using client = await startClient({ checkAction: (request) => ({ ...allowing(request), ...wrong }) });
  await expect(client.agent.check({ tool: 'search' })).rejects.toBeInstanceOf(ReeveInternal);
});

test('a refused identity is a denial without an operation', async () => {
  await using client = await startClient({
    checkAction: (request) =>
      answering(Decision.DENY, request, {
        opId: '',
        opState: '',
        policyRule: 'identity',
        reason: 'agent is suspended',
      }),
  });
  const answer = await client.agent.check({ tool: 'search' });
  expect(answer).toMatchObject({ decision: 'deny', policyRule: 'identity', opId: '', opState: undefined });
});

test('a malformed check is an error with its place', async () => {
  await using client = await startClient({
    checkAction: () => ({ code: status.INVALID_ARGUMENT, details: 'run_id: must be at most 128 characters' }),
  });
  const { agent } = client;
  await expect(agent.check({ tool: 'x' })).rejects.toThrow(ReeveInvalidRequest);
  await expect(agent.check({ tool: '' })).rejects.toThrow('action.tool: must be a non-empty text');
  await expect(agent.check({ tool: 'x' }, { traceId: 'a b' })).rejects.toThrow('traceId: must be');
  await expect(agent.check({ tool: 'x' }, { spanId: '' })).rejects.toThrow('spanId: must be');
  await expect(agent.check({ tool: 'x' }, { estimatedCostMicros: -1 })).rejects.toThrow('estimatedCostMicros: must be');
  await expect(agent.check({ tool: 'x' }, { deadlineMs: -1 })).rejects.toThrow('deadlineMs: must be');
  await expect(agent.check({ tool: 'x', args: 'y'.repeat(5_000_000) })).rejects.toThrow('at most 4194304 can be sent');
  expect(client.gateway.count('checkAction')).toBe(1);
});

test('a check can be given up', async () => {
  await using client = await startClient({ checkAction: () => 'silence' });
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  const check = client.agent.check({ tool: 'search' }, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  await expect(check).rejects.toBe(reason);
  await expect(client.agent.check({ tool: 'search' }, { signal: controller.signal })).rejects.toBe(reason);
});

test('closing ends what is in flight, and everything after', async () => {
  await using client = await startClient({ checkAction: () => 'silence' });
  const check = client.agent.check({ tool: 'search' });
  setTimeout(() => client.reeve.close(), 20);
  await expect(check).rejects.toBeInstanceOf(ReeveClosed);
  await expect(client.agent.check({ tool: 'search' })).rejects.toBeInstanceOf(ReeveClosed);
  await expect(client.agent.complete('t:s')).rejects.toBeInstanceOf(ReeveClosed);
});

test('many checks are split by number, and answered in order', async () => {
  await using client = await startClient({
    batchCheck: ({ requests }: BatchCheckRequest) => ({
      responses: requests.map((request) => (request.spanId === 's7' ? denying('seven')(request) : allowing(request))),
    }),
  });
  const checks = Array.from({ length: 2500 }, (_, i) => ({ action: { tool: 'a' }, traceId: 't', spanId: `s${i}` }));
  const answers = await client.agent.checkMany(checks);
  expect(answers.map((answer) => answer.spanId)).toEqual(checks.map((check) => check.spanId));
  expect(answers.filter((answer) => !answer.allowed)).toMatchObject([{ spanId: 's7', reason: 'seven' }]);
  const sizes = client.gateway.messages<BatchCheckRequest>('batchCheck').map(({ requests }) => requests.length);
  expect(sizes).toEqual([1000, 1000, 500]);
  expect(await client.agent.checkMany([])).toEqual([]);
});

test('many checks are split by size', async () => {
  await using client = await startClient();
  const args = 'x'.repeat(1_500_000);
  const answers = await client.agent.checkMany(Array.from({ length: 5 }, () => ({ action: { tool: 'a', args } })));
  expect(answers.every((answer) => answer.allowed)).toBe(true);
  expect(client.gateway.count('batchCheck')).toBeGreaterThan(2);
});

test('a malformed one of many is named by its place, before anything is asked', async () => {
  await using client = await startClient();
  const checks = [{ action: { tool: 'a' } }, { action: { tool: '' } }];
  await expect(client.agent.checkMany(checks)).rejects.toThrow('checks[1].action.tool: must be a non-empty text');
  expect(client.gateway.count('batchCheck')).toBe(0);
});

test('what the gateway finds malformed in a later batch is named by its place among all', async () => {
  await using client = await startClient({
    batchCheck: ({ requests }, nth) =>
      nth === 1
        ? { responses: requests.map(allowing) }
        : { code: status.INVALID_ARGUMENT, details: 'requests[3].run_id: must be at most 128 characters' },
  });
  const checks = Array.from({ length: 1010 }, () => ({ action: { tool: 'a' } }));
  await expect(client.agent.checkMany(checks)).rejects.toThrow('checks[1003].run_id: must be');
});

test('of many checks, those without an answer are denied', async () => {
  await using client = await startClient(
    { batchCheck: ({ requests }, nth) => (nth === 1 ? { responses: requests.map(allowing) } : unavailable('gone')) },
    { retry: { burst: 0 } },
  );
  const answers = await client.agent.checkMany(Array.from({ length: 1001 }, () => ({ action: { tool: 'a' } })));
  expect(answers.slice(0, 1000).every((answer) => answer.allowed)).toBe(true);
  expect(answers.at(-1)).toMatchObject({ allowed: false, source: 'sdk', reason: 'gateway unreachable: gone' });
});

test('where the later of many checks fail, the earlier are called off, as nobody learns of them', async () => {
  await using client = await startClient(
    { batchCheck: ({ requests }, nth) => (nth === 1 ? { responses: requests.map(allowing) } : unavailable('gone')) },
    { retry: { burst: 0 }, onUnavailable: 'throw' },
  );
  const checks = Array.from({ length: 1001 }, (_, i) => ({ action: { tool: 'a' }, traceId: 't', spanId: `s${i}` }));
  await expect(client.agent.checkMany(checks)).rejects.toBeInstanceOf(ReeveUnavailable);
  await client.agent.heartbeat();
  const calledOff = client.gateway.messages<CompleteActionRequest>('completeAction');
  expect(new Set(calledOff.map(({ opId }) => opId)).size).toBe(1000);
  expect(calledOff.every(({ outcome, actualCostMicros }) => outcome === 3 && actualCostMicros === 0)).toBe(true);
});

test('fewer answers than questions are no answers', async () => {
  await using client = await startClient({
    batchCheck: ({ requests }) => ({ responses: requests.slice(1).map(allowing) }),
  });
  const checks = [{ action: { tool: 'a' } }, { action: { tool: 'b' } }];
  await expect(client.agent.checkMany(checks)).rejects.toBeInstanceOf(ReeveInternal);
});

test('completing tells the outcome and the cost', async () => {
  await using client = await startClient();
  await client.agent.complete('t:s', { outcome: 'failed', actualCostMicros: 0, detail: 'timed out' });
  await client.agent.complete('t:s2');
  const [failed, succeeded] = client.gateway.messages<CompleteActionRequest>('completeAction');
  expect(failed).toMatchObject({ opId: 't:s', outcome: 2, actualCostMicros: 0, detail: 'timed out' });
  expect(succeeded).toMatchObject({ opId: 't:s2', outcome: 1, actualCostMicros: undefined });
});

test('a completion whose first attempt was carried out though its answer was lost is done', async () => {
  await using client = await startClient({
    completeAction: (_, nth) => (nth === 1 ? 'cut' : { code: status.FAILED_PRECONDITION, details: 'is completing' }),
  });
  await client.agent.complete('t:s');
  expect(client.gateway.count('completeAction')).toBe(2);
});

test('a completion that is refused at once is an error', async () => {
  await using client = await startClient({
    completeAction: ({ opId }) =>
      opId === 'no:op'
        ? { code: status.NOT_FOUND, details: 'unknown' }
        : { code: status.FAILED_PRECONDITION, details: 'operation is terminated' },
  });
  await expect(client.agent.complete('t:s')).rejects.toBeInstanceOf(ReeveInvalidTransition);
  await expect(client.agent.complete('no:op')).rejects.toBeInstanceOf(ReeveOpNotFound);
  await expect(client.agent.complete('')).rejects.toThrow('opId: must be a non-empty text');
  await expect(client.agent.complete('t:s', { actualCostMicros: 0.5 })).rejects.toThrow('actualCostMicros: must be');
});

test('deregistering twice because an answer was lost is done; a stranger cannot', async () => {
  const refused = { code: status.UNAUTHENTICATED, details: 'agent is not registered' };
  await using client = await startClient({ deregisterAgent: (_, nth) => (nth === 1 ? 'cut' : refused) });
  await client.agent.deregister('done');
  await expect(client.agent.deregister()).rejects.toBeInstanceOf(ReeveUnauthenticated);
});

test('running an allowed action reports how it ended and what it cost', async () => {
  await using client = await startClient();
  const result = await client.agent.run({ tool: 'search' }, ({ answer, spent }) => {
    spent(250);
    return answer.opId;
  });
  const failing = client.agent.run({ tool: 'search' }, async () => {
    throw new RangeError('no such page');
  });
  await expect(failing).rejects.toThrow(RangeError);
  const [succeeded, failed] = client.gateway.messages<CompleteActionRequest>('completeAction');
  expect(succeeded).toMatchObject({ opId: result, outcome: 1, actualCostMicros: 250 });
  expect(failed).toMatchObject({ outcome: 2, actualCostMicros: undefined });
});

test('what is not allowed is not run', async () => {
  await using client = await startClient({
    checkAction: (request, nth) =>
      nth === 1 ? denying('not here')(request) : answering(Decision.PENDING, request, { reason: 'ask first' }),
  });
  let ran = false;
  const work = () => {
    ran = true;
  };
  const denied = await client.agent.run({ tool: 'rm' }, work).catch((error: unknown) => error);
  expect(denied).toBeInstanceOf(ActionDeniedError);
  expect(denied).toMatchObject({ message: 'denied: not here', answer: { decision: 'deny' } });
  await expect(client.agent.run({ tool: 'rm' }, work, { waitMs: 0 })).rejects.toThrow('held: ask first');
  expect(ran).toBe(false);
  expect(client.gateway.count('completeAction')).toBe(0);
});

test('the result of an action is not lost with its report, which follows with a heartbeat', async () => {
  await using client = await startClient(
    { completeAction: (_, nth) => (nth === 1 ? unavailable() : { op: undefined }) },
    { retry: { burst: 0 } },
  );
  expect(await client.agent.run({ tool: 'search' }, () => 42)).toBe(42);
  await client.agent.heartbeat();
  await client.agent.heartbeat();
  const [lost, delivered, ...more] = client.gateway.messages<CompleteActionRequest>('completeAction');
  expect(delivered).toEqual(lost);
  expect(more).toEqual([]);
});

test('an action that an operator terminated while it ran needs no report', async () => {
  await using client = await startClient({
    completeAction: () => ({ code: status.FAILED_PRECONDITION, details: 'operation is terminated' }),
  });
  expect(await client.agent.run({ tool: 'search' }, () => 42)).toBe(42);
});

test('what was denied here for want of an answer is called off there, for no money', async () => {
  await using client = await startClient({ checkAction: () => 'silence' });
  const answer = await client.agent.check({ tool: 'search' }, { deadlineMs: 50 });
  await client.agent.heartbeat();
  expect(client.gateway.messages('completeAction')).toMatchObject([
    { opId: answer.opId, outcome: 3, actualCostMicros: 0, detail: 'the answer never arrived' },
  ]);
});

test('what was asked again is not called off, nor what never left', async () => {
  await using client = await startClient({
    checkAction: (request, nth) => (nth === 1 ? 'silence' : allowing(request)),
  });
  const { agent, gateway } = client;
  const lost = await agent.check({ tool: 'search' }, { deadlineMs: 50 });
  const again = await agent.check({ tool: 'search' }, { traceId: lost.traceId, spanId: lost.spanId });
  expect(again).toMatchObject({ allowed: true, opId: lost.opId });
  const comeBack = await gateway.away();
  // The first call to notice may already have been in flight. The next ones were not.
  await agent.heartbeat().catch(() => {});
  expect(await agent.check({ tool: 'search' }, { deadlineMs: 100 })).toMatchObject({ source: 'sdk' });
  await comeBack();
  const beats = () =>
    agent.heartbeat().then(
      () => true,
      () => false,
    );
  await expect.poll(beats, { timeout: 30_000 }).toBe(true);
  expect(gateway.count('completeAction')).toBe(0);
});

import { status } from '@grpc/grpc-js';
import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { startClient } from '../../test/client.ts';
import { allowing, answering, denying, unavailable } from '../../test/scripted-answers.ts';
import { ReeveClosed, ReeveInvalidRequest } from '../index.ts';

const always = { pipeline: 'always' } as const;
const many = (count: number) => Array.from({ length: count }, (_, index) => index);
const spans = (messages: readonly { spanId: string }[]) => messages.map((message) => message.spanId);

test('few checks go one by one, many share a stream', async () => {
  await using client = await startClient();
  const { agent, gateway } = client;
  for (const _ of many(20)) await agent.check({ tool: 'search' });
  expect(gateway.count('checkStream')).toBe(0);
  const answers = await Promise.all(many(200).map((i) => agent.check({ tool: 'search' }, { spanId: `s${i}` })));
  expect(answers.every((answer) => answer.allowed)).toBe(true);
  expect(gateway.count('checkStream')).toBe(200 - 8);
});

test('with pipeline: never there is no stream', async () => {
  await using client = await startClient({}, { pipeline: 'never' });
  await Promise.all(many(50).map(() => client.agent.check({ tool: 'search' })));
  expect(client.gateway.count('checkStream')).toBe(0);
});

test('each check gets its own answer', async () => {
  await using client = await startClient(
    { checkStream: (request, nth) => (nth % 3 === 0 ? denying(request.spanId)(request) : allowing(request)) },
    always,
  );
  const answers = await Promise.all(many(300).map((i) => client.agent.check({ tool: 'a' }, { spanId: `s${i}` })));
  for (const [index, answer] of answers.entries()) {
    expect(answer).toMatchObject(index % 3 === 2 ? { allowed: false, reason: `s${index}` } : { allowed: true });
    expect(answer.spanId).toBe(`s${index}`);
  }
});

test.each([
  ['the connection breaks', 'cut' as const],
  ['the gateway shuts down', unavailable('the gateway is shutting down')],
])('when %s, what waits is asked again as the same operations', async (_, break_) => {
  await using client = await startClient(
    { checkStream: (request, nth) => (nth === 50 ? break_ : allowing(request)) },
    { ...always, retry: { burst: 1 } },
  );
  const checks = many(100).map((i) => client.agent.check({ tool: 'a' }, { traceId: 't', spanId: `s${i}` }));
  const answers = await Promise.all(checks);
  expect(answers.every((answer) => answer.allowed && answer.source === 'gateway')).toBe(true);
  const asked = client.gateway.messages('checkStream');
  expect(new Set(spans(asked))).toEqual(new Set(many(100).map((i) => `s${i}`)));
  expect(client.gateway.count('checkAction')).toBe(0);
});

test('a gateway that restarts is waited for', async () => {
  await using client = await startClient({}, { ...always, retry: { burst: 2 } });
  await client.agent.check({ tool: 'first' });
  const comeBack = await client.gateway.away();
  const checks = many(100).map(() => client.agent.check({ tool: 'a' }));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await comeBack();
  for (const answer of await Promise.all(checks)) expect(answer).toMatchObject({ allowed: true, source: 'gateway' });
});

test('streams are opened again within the budget only', async () => {
  await using client = await startClient(
    { checkStream: () => unavailable('overloaded') },
    { ...always, retry: { burst: 2 } },
  );
  const answers = await Promise.all(many(5).map(() => client.agent.check({ tool: 'a' })));
  for (const answer of answers) {
    expect(answer).toMatchObject({ decision: 'deny', reason: 'gateway unreachable: overloaded', source: 'sdk' });
  }
  // Five checks, and five more for each of two retries.
  expect(client.gateway.count('checkStream')).toBeLessThanOrEqual(15);
  expect(await client.agent.check({ tool: 'a' })).toMatchObject({ source: 'sdk' });
});

test('a check without an answer in time is denied, and the others are not', async () => {
  await using client = await startClient(
    {
      checkStream: async (request) => {
        if (request.spanId === 'slow') await new Promise((resolve) => setTimeout(resolve, 400));
        return allowing(request);
      },
    },
    always,
  );
  const slow = client.agent.check({ tool: 'a' }, { spanId: 'slow', deadlineMs: 100 });
  const patient = client.agent.check({ tool: 'a' }, { spanId: 'patient' });
  expect(await slow).toMatchObject({ allowed: false, reason: 'gateway unreachable: no answer within 100 ms' });
  expect(await patient).toMatchObject({ allowed: true, spanId: 'patient' });
});

test('a stream that has gone silent is left for another', async () => {
  await using client = await startClient(
    { checkStream: (request, nth) => (nth <= 2 ? 'silence' : allowing(request)) },
    { ...always, retry: { burst: 1 } },
  );
  const lost = client.agent.check({ tool: 'a' }, { deadlineMs: 1500 });
  const kept = client.agent.check({ tool: 'b' });
  expect(await lost).toMatchObject({ source: 'sdk' });
  expect(await kept).toMatchObject({ allowed: true });
});

test('checks that run out of time while there is no connection cost no retries, and nothing is called off', async () => {
  await using client = await startClient({}, { ...always, retry: { burst: 1 } });
  const { agent, gateway } = client;
  await agent.check({ tool: 'first' });
  const comeBack = await gateway.away();
  await agent.heartbeat().catch(() => {});
  const patient = agent.check({ tool: 'patient' });
  for (const _ of many(3)) {
    const answers = await Promise.all(many(3).map(() => agent.check({ tool: 'a' }, { deadlineMs: 400 })));
    for (const answer of answers) expect(answer).toMatchObject({ source: 'sdk' });
  }
  await comeBack();
  expect(await patient).toMatchObject({ allowed: true });
  await agent.heartbeat();
  expect(gateway.count('completeAction')).toBe(0);
});

test('giving up all checks while the stream is broken loses none that come after', async () => {
  const retry = { burst: 1, initialBackoffMs: 3000, maxBackoffMs: 3000 };
  await using client = await startClient({}, { ...always, retry });
  const { agent, gateway } = client;
  await agent.check({ tool: 'first' });
  const comeBack = await gateway.away();
  const controller = new AbortController();
  const given = agent.check({ tool: 'a' }, { signal: controller.signal });
  setTimeout(() => controller.abort('enough'), 50);
  await expect(given).rejects.toBe('enough');
  await comeBack();
  expect(await agent.check({ tool: 'b' })).toMatchObject({ allowed: true, source: 'gateway' });
});

test('a check can be given up without disturbing the order', async () => {
  await using client = await startClient(
    {
      checkStream: async (request) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return allowing(request);
      },
    },
    always,
  );
  const controller = new AbortController();
  const given = client.agent.check({ tool: 'a' }, { signal: controller.signal });
  const kept = client.agent.check({ tool: 'b' }, { spanId: 'kept' });
  controller.abort('enough');
  await expect(given).rejects.toBe('enough');
  expect(await kept).toMatchObject({ allowed: true, spanId: 'kept' });
});

test('answers out of order allow nothing: the checks are asked one by one', async () => {
  await using client = await startClient(
    {
      checkStream: (request) => ({ ...allowing(request), opId: `${request.traceId}:elsewhere` }),
      checkAction: denying('asked alone'),
    },
    always,
  );
  const answers = await Promise.all(many(10).map(() => client.agent.check({ tool: 'a' })));
  for (const answer of answers) expect(answer).toMatchObject({ allowed: false, reason: 'asked alone' });
  await client.agent.check({ tool: 'a' });
  expect(client.gateway.count('checkStream')).toBeLessThanOrEqual(10);
  expect(client.gateway.count('checkAction')).toBe(11);
});

test('a gateway without streams is asked one by one from then on', async () => {
  await using client = await startClient(
    { checkStream: () => ({ code: status.UNIMPLEMENTED, details: 'no streams here' }) },
    always,
  );
  for (const _ of many(3)) expect(await client.agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  expect(client.gateway.count('checkStream')).toBe(1);
  expect(client.gateway.count('checkAction')).toBe(3);
});

test('what is malformed is the same error as outside of a stream', async () => {
  await using client = await startClient(
    {
      checkStream: (request) =>
        answering(Decision.DENY, request, {
          opId: '',
          policyRule: '',
          reason: 'invalid request: run_id: must be at most 128 characters',
        }),
    },
    always,
  );
  const check = client.agent.check({ tool: 'a' }, { runId: 'x'.repeat(200) });
  await expect(check).rejects.toThrow(ReeveInvalidRequest);
  await expect(check).rejects.toThrow(/^run_id: must be at most 128 characters$/);
});

test('closing ends what waits', async () => {
  await using client = await startClient({ checkStream: () => 'silence' }, always);
  const checks = many(3).map(() => client.agent.check({ tool: 'a' }));
  setTimeout(() => client.reeve.close(), 20);
  for (const outcome of await Promise.allSettled(checks)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ReeveClosed) });
  }
});

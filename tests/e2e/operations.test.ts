import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';

const policy = 'name: ops\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: [forbidden]}\n';

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'ops.yaml': policy } });
  agent = await gateway.register({ agentId: 'worker' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('both ids empty: the gateway makes them up', async () => {
  const answer = await gateway.check(agent);
  expect(answer.opId).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
  expect(gateway.audit().at(-1)).toMatchObject({ op_id: answer.opId, trace_id: answer.opId.split(':')[0] });
});

test('replaying a running operation allows it again; after completion it is denied', async () => {
  const ids = { traceId: 'replay', spanId: 'running' };
  const first = await gateway.check(agent, ids);
  expect(await gateway.check(agent, ids)).toMatchObject({ decision: 1, reason: first.reason, opState: 'running' });
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'ActionAllowed', payload: { replay: true } });
  await gateway.complete(agent, 'replay:running');
  expect(await gateway.check(agent, ids)).toMatchObject({ decision: 2, opState: 'completing' });
});

test('replaying a denied operation gives the same answer', async () => {
  const request = { traceId: 'replay', spanId: 'denied', context: toolCall('forbidden') };
  const first = await gateway.check(agent, request);
  expect(first).toMatchObject({ decision: 2, policyRule: 'ops/no', opState: 'terminated' });
  const { decisionLatencyUs: _, ...second } = await gateway.check(agent, request);
  expect(first).toMatchObject(second);
});

test('an operation id that was used for another request is denied and stays what it was', async () => {
  const ids = { traceId: 'replay', spanId: 'other' };
  await gateway.check(agent, { ...ids, context: toolCall('search', { q: 1 }) });
  const other = await gateway.check(agent, { ...ids, context: toolCall('search', { q: 2 }) });
  expect(other).toMatchObject({ decision: 2, reason: 'operation id was used for another request', opState: 'running' });
  expect(await gateway.check(agent, { ...ids, context: toolCall('search', { q: 1 }) })).toMatchObject({ decision: 1 });
});

test('completion moves once; every other move is refused with what is allowed', async () => {
  const { opId } = await gateway.check(agent);
  const op = await gateway.complete(agent, opId, { outcome: 1, actualCostMicros: 1200, detail: 'fine' });
  expect(op).toMatchObject({ opId, state: 'completing', agentId: agent.id });
  expect(op?.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(gateway.audit().at(-1)).toMatchObject({
    event_type: 'OpStateChanged',
    op_id: opId,
    payload: { from: 'running', to: 'completing', outcome: 'succeeded', cost_micros: 1200, detail: 'fine' },
  });
  await expect(gateway.complete(agent, opId)).rejects.toMatchObject({
    code: 9,
    details: expect.stringContaining('completing'),
  });
  const denied = await gateway.check(agent, { context: toolCall('forbidden') });
  await expect(gateway.complete(agent, denied.opId)).rejects.toMatchObject({ code: 9 });
  await expect(gateway.complete(agent, 'un:known')).rejects.toMatchObject({ code: 5 });
});

test('operations that are over are swept by tick and age', async () => {
  const env = { SVC_OPS_TTL_SECS: '0.2', SVC_OPS_SWEEP_TICK_SECS: '0.1' };
  await using quick = await TestGateway.start({ policies: { 'ops.yaml': policy }, env });
  const worker = await quick.register({ agentId: 'worker' });
  const running = await quick.check(worker);
  const over = await quick.check(worker);
  await quick.complete(worker, over.opId);
  await eventually(async () => {
    await expect(quick.complete(worker, over.opId)).rejects.toMatchObject({ code: 5 });
  });
  expect(await quick.complete(worker, running.opId)).toMatchObject({ state: 'completing' });
});

test.each(['SIGTERM', 'SIGKILL'] as const)('operations in flight survive %s', async (signal) => {
  const env = { SVC_OPS_SWEEP_TICK_SECS: '0.1' };
  await using first = await TestGateway.start({ policies: { 'ops.yaml': policy }, env });
  const worker = await first.register({ agentId: 'worker' });
  const old = { traceId: 'old', spanId: 'op', context: toolCall('search', { q: 1 }) };
  const done = { traceId: 'done', spanId: 'op' };
  await first.check(worker, old);
  await first.check(worker, done);
  await sleep(500); // Long enough for both to be saved as rows, so that rows and replay are both tested.
  await first.complete(worker, 'done:op');
  const fresh = { traceId: 'fresh', spanId: 'op' };
  const before = await first.check(worker, fresh);
  const refused = { traceId: 'refused', spanId: 'op', context: toolCall('forbidden') };
  await first.check(worker, refused);

  await using second = await first.restart(signal, { env });
  expect(await second.check(worker, old)).toMatchObject({ decision: 1, opState: 'running', policyRule: 'default' });
  expect(await second.check(worker, fresh)).toMatchObject({ decision: 1, reason: before.reason });
  expect(await second.check(worker, done)).toMatchObject({ decision: 2, opState: 'completing' });
  expect(await second.check(worker, refused)).toMatchObject({
    decision: 2,
    policyRule: 'ops/no',
    opState: 'terminated',
  });
  expect(await second.check(worker, { ...old, context: toolCall('search', { q: 2 }) })).toMatchObject({
    decision: 2,
    reason: 'operation id was used for another request',
  });
  expect(await second.complete(worker, 'fresh:op')).toMatchObject({ state: 'completing' });
});

test('SVC_OPS_DURABLE=false: a restart empties the registry, and what it forgot stays forgotten', async () => {
  const env = { SVC_OPS_DURABLE: 'false' };
  await using first = await TestGateway.start({ policies: { 'ops.yaml': policy }, env });
  const worker = await first.register({ agentId: 'worker' });
  await first.check(worker, { traceId: 'gone', spanId: 'op' });
  await using second = await first.restart('SIGTERM', { env });
  await expect(second.complete(worker, 'gone:op')).rejects.toMatchObject({ code: 5 });
  await second.check(worker, { traceId: 'gone', spanId: 'too' });
  await using third = await second.restart('SIGKILL');
  await expect(third.complete(worker, 'gone:too')).rejects.toMatchObject({ code: 5 });
  await third.check(worker, { traceId: 'kept', spanId: 'op' });
  await using fourth = await third.restart('SIGKILL');
  expect(await fourth.complete(worker, 'kept:op')).toMatchObject({ state: 'completing' });
});

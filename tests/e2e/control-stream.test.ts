import { status } from '@grpc/grpc-js';
import {
  AckOpControlRequest_Evidence as Evidence,
  OpControlMessage,
  OpControlSubscribeRequest,
  paths,
} from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { describe, expect, test } from 'vitest';
import { acknowledge, ControlStream } from '../harness/control-stream.ts';
import { eventually } from '../harness/eventually.ts';
import type { GatewayOptions, Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';
import { GrpcClient } from '../harness/grpc-client.ts';

type Controlled = RouteOutput<Routes['pauseOp']>;
type Receipt = Extract<RouteOutput<Routes['getControl']>, { kind: 'receipt' }>;
type Action = 'pause' | 'resume' | 'terminate';

const refused = { decision: 2, reason: 'agent has not confirmed a stop', policyRule: 'identity', opId: '' };
const allowed = { decision: 1 };

/** Settings under which nothing falls due during the test. */
const patient = { SVC_CONTROL_ACK_SECS: '600', SVC_RATE_LIMIT_API_PER_MIN: '0' };

function start(env: Readonly<Record<string, string>> = patient, more: GatewayOptions = {}): Promise<TestGateway> {
  return TestGateway.start({ policies: { 'all.yaml': allowAll }, env, ...more });
}

/** An agent that runs operations `<name>:s`. */
async function busy(gateway: TestGateway, agentId: string, ...names: readonly string[]): Promise<Registered> {
  const agent = await gateway.register({ agentId });
  for (const traceId of names) await gateway.check(agent, { traceId, spanId: 's' });
  return agent;
}

async function control(gateway: TestGateway, opId: string, action: Action, reason = ''): Promise<Controlled> {
  const path = `/api/v1/ops/${encodeURIComponent(opId)}/${action}`;
  const answer = await gateway.api.post<Controlled>(path, bootstrapKey, { reason });
  expect(answer.status, answer.text).toBe(202);
  return answer.body;
}

async function receiptOf(gateway: TestGateway, controlled: Controlled): Promise<Receipt> {
  const answer = await gateway.api.get<Receipt>(`/api/v1/control/${controlled.control?.id}`, bootstrapKey);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

function agentPath({ id }: Registered, action: 'suspend' | 'resume'): string {
  return `/api/v1/agents/${id.orgId}/${id.teamId}/${id.agentId}/${action}`;
}

describe('a control stream', () => {
  test('gets what waits, in order, and then what comes; what is acknowledged does not come again', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a', 'b');
    await control(gateway, 'a:s', 'pause', 'looks odd');
    const terminated = await control(gateway, 'b:s', 'terminate');
    const stream = await ControlStream.open(gateway, agent);
    await control(gateway, 'a:s', 'resume');
    expect(await stream.heard(3)).toEqual(['1 pause a:s', '2 terminate b:s', '3 resume a:s']);
    expect(stream.messages[0]).toMatchObject({ reason: 'looks odd', issuedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(stream.messages[1]?.controlId).toBe(terminated.control?.id);
    await acknowledge(gateway, agent, 2, 'EFFECTIVE');
    const again = await ControlStream.open(gateway, agent);
    expect(await again.heard(2)).toEqual(['1 pause a:s', '3 resume a:s']);
    expect(await (await ControlStream.open(gateway, agent, 1)).heard(1)).toEqual(['3 resume a:s']);
    const ahead = await ControlStream.open(gateway, agent, 1_000_000);
    await control(gateway, 'a:s', 'pause');
    expect(await ahead.heard(1)).toEqual(['4 pause a:s']);
    expect(await stream.heard(4)).toHaveLength(4);
  });

  test('is one of several that each get everything, and other agents hear nothing of it', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a');
    const other = await busy(gateway, 'other', 'x');
    const streams = await Promise.all([1, 2, 3].map(() => ControlStream.open(gateway, agent)));
    const stranger = await ControlStream.open(gateway, other);
    const controlled = await control(gateway, 'a:s', 'pause');
    for (const stream of streams) expect(await stream.heard(1)).toEqual(['1 pause a:s']);
    await control(gateway, 'x:s', 'pause');
    expect(await stranger.heard(1)).toEqual(['1 pause x:s']);
    expect(await receiptOf(gateway, controlled)).toMatchObject({ status: 'delivered' });
  });

  test('makes the receipt delivered; acknowledgements move it on, and never back', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a', 'b');
    const pausing = await control(gateway, 'a:s', 'pause');
    expect(pausing.control).toMatchObject({ status: 'requested', delivered_at: null });
    expect(await receiptOf(gateway, pausing)).toMatchObject({ status: 'requested', op_id: 'a:s' });
    const stream = await ControlStream.open(gateway, agent);
    await stream.heard(1);
    await eventually(async () =>
      expect(await receiptOf(gateway, pausing)).toMatchObject({ status: 'delivered', acked_at: null }),
    );
    await acknowledge(gateway, agent, 1, 'RECEIVED');
    const acked = await receiptOf(gateway, pausing);
    expect(acked).toMatchObject({ status: 'acked', effective_at: null, delivered_at: expect.any(String) });
    await acknowledge(gateway, agent, 1, 'EFFECTIVE', 'stopped at step 3');
    for (const outcome of ['FAILED', 'RECEIVED', 'EFFECTIVE'] as const) await acknowledge(gateway, agent, 1, outcome);
    const effective = await receiptOf(gateway, pausing);
    expect(effective).toMatchObject({
      status: 'effective',
      acked_at: acked.acked_at,
      effective_at: expect.any(String),
    });
    const op = await gateway.api.get<RouteOutput<Routes['getOp']>>('/api/v1/ops/a%3As', bootstrapKey);
    expect(op.body.control).toMatchObject({ id: effective.id, status: 'effective' });

    const failing = await control(gateway, 'b:s', 'terminate');
    await acknowledge(gateway, agent, 2, 'FAILED', 'no handle');
    expect(await receiptOf(gateway, failing)).toMatchObject({ status: 'failed', detail: 'no handle' });
    const said = gateway.audit().filter((entry) => entry.event_type === 'OpControlAcknowledged');
    expect(said.map((entry) => [entry.op_id, entry.actor.kind, entry.payload['outcome']])).toEqual([
      ['a:s', 'agent', 'received'],
      ['a:s', 'agent', 'effective'],
      ['b:s', 'agent', 'failed'],
    ]);
    expect(await gateway.check(agent)).toMatchObject(allowed);
  });

  test('carries what a suspension pauses and resumes', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a', 'b');
    await control(gateway, 'b:s', 'pause');
    const stream = await ControlStream.open(gateway, agent, 1);
    await gateway.api.post(agentPath(agent, 'suspend'), bootstrapKey, { reason: 'odd' });
    await gateway.api.post(agentPath(agent, 'resume'), bootstrapKey, { reason: '' });
    expect(await stream.heard(2)).toEqual(['2 pause a:s', '3 resume a:s']);
    const op = await gateway.api.get<RouteOutput<Routes['getOp']>>('/api/v1/ops/b%3As', bootstrapKey);
    expect(op.body.state).toBe('paused');
  });

  test('gets a scoped control of thousands of operations whole and in order, also when it reads late', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot');
    const count = 3000;
    const requests = Array.from({ length: count }, (_, at) => checkRequest(agent, { traceId: `n${at}`, spanId: 's' }));
    for (let from = 0; from < count; from += 1000) await gateway.batch(requests.slice(from, from + 1000));
    const slow = await ControlStream.open(gateway, agent);
    const fast = await ControlStream.open(gateway, agent);
    slow.stall();
    const body = { action: 'terminate', scope: { org_id: 'acme' }, reason: 'drill' };
    const answer = await gateway.api.post('/api/v1/control', bootstrapKey, body);
    expect(answer.body).toMatchObject({ matched: count, changed: count, skipped: 0 });
    const sequences = (stream: ControlStream) => stream.messages.map(({ sequence }) => sequence);
    const expected = Array.from({ length: count }, (_, index) => index + 1);
    await fast.heard(count);
    expect(sequences(fast)).toEqual(expected);
    slow.catchUp();
    await slow.heard(count);
    expect(sequences(slow)).toEqual(expected);
  }, 60_000);
});

describe('a call is refused', () => {
  test('with a bad token, an unknown sequence, no outcome, or another agent’s sequence', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a');
    const other = await busy(gateway, 'other');
    await control(gateway, 'a:s', 'pause');
    for (const token of ['', 'x'.repeat(40), other.token]) {
      const stream = new ControlStream(gateway.client, { ...agent, token });
      expect(await stream.ended).toMatchObject({ code: status.UNAUTHENTICATED });
      await expect(acknowledge(gateway, { ...agent, token }, 1, 'EFFECTIVE')).rejects.toMatchObject({
        code: status.UNAUTHENTICATED,
      });
    }
    const blank = new ControlStream(gateway.client, { ...agent, id: { ...agent.id, agentId: '' } });
    expect(await blank.ended).toMatchObject({ code: status.INVALID_ARGUMENT });
    for (const sequence of [0, 2, Number.MAX_SAFE_INTEGER]) {
      await expect(acknowledge(gateway, agent, sequence, 'EFFECTIVE')).rejects.toMatchObject({
        code: status.NOT_FOUND,
      });
    }
    await expect(acknowledge(gateway, other, 1, 'EFFECTIVE')).rejects.toMatchObject({ code: status.NOT_FOUND });
    await expect(acknowledge(gateway, agent, 1, 'OUTCOME_UNSPECIFIED')).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
    await acknowledge(gateway, agent, 1, 'RECEIVED');
  });

  test('where the first message is garbage or missing, and the gateway goes on', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot');
    const garbage = { encode: () => ({ finish: () => Uint8Array.of(0xff, 0xff, 0xff) }) as never, decode: () => ({}) };
    for (const path of [paths.opControlStream, paths.healthWatch, paths.reflectionV1]) {
      const bad = gateway.client.stream(path, garbage, OpControlMessage);
      const ended = new Promise((resolve) => bad.once('error', resolve));
      bad.write({});
      expect(await ended, path).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
    const silent = gateway.client.stream(paths.opControlStream, OpControlSubscribeRequest, OpControlMessage);
    const over = new Promise((resolve) => silent.once('error', resolve));
    silent.resume();
    silent.end();
    expect(await over).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(await gateway.check(agent)).toMatchObject(allowed);
  });
});

describe('a stream is ended', () => {
  test('when the token is replaced or the agent leaves, at once, and gets nothing more', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a');
    const old = await ControlStream.open(gateway, agent);
    const anew = await gateway.register({ agentId: 'bot' });
    expect(await old.ended).toMatchObject({ code: status.UNAUTHENTICATED });
    await control(gateway, 'a:s', 'pause');
    const stream = await ControlStream.open(gateway, anew);
    expect(await stream.heard(1)).toEqual(['1 pause a:s']);
    expect(old.messages).toEqual([]);
    await gateway.deregister(anew);
    expect(await stream.ended).toMatchObject({ code: status.UNAUTHENTICATED });
  });

  test('as unavailable when the gateway shuts down, which does not wait for it', async () => {
    await using gateway = await start({ ...patient, SVC_DRAIN_SECS: '30' });
    const agent = await busy(gateway, 'bot');
    const streams = await Promise.all([1, 2].map(() => ControlStream.open(gateway, agent)));
    const stopping = performance.now();
    gateway.child.kill('SIGTERM');
    for (const stream of streams) expect(await stream.ended).toMatchObject({ code: status.UNAVAILABLE });
    gateway.client.close();
    expect(await gateway.exited()).toBe(0);
    expect(performance.now() - stopping).toBeLessThan(20_000);
  });

  test('by the agent whenever it likes, and that leaves nothing behind', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot');
    const streams = async () => /^reeve_control_streams (\d+)$/m.exec((await gateway.api.get('/metrics')).text)?.[1];
    const open = await Promise.all([1, 2, 3].map(() => ControlStream.open(gateway, agent)));
    expect(await streams()).toBe('3');
    for (const stream of open) stream.cancel();
    await eventually(async () => expect(await streams()).toBe('0'));
    const client = new GrpcClient(gateway.grpc);
    const stream = new ControlStream(client, agent);
    await eventually(async () => expect(await streams()).toBe('1'));
    client.close();
    stream.cancel();
    await eventually(async () => expect(await streams()).toBe('0'));
  });
});

describe('an agent that does not confirm a stop', () => {
  const impatient = { ...patient, SVC_CONTROL_ACK_SECS: '0.5' };

  test('is refused until it acknowledges; a failure is not enough', async () => {
    await using gateway = await start(impatient);
    const agent = await busy(gateway, 'bot', 'a', 'b');
    const stream = await ControlStream.open(gateway, agent);
    const pausing = await control(gateway, 'a:s', 'pause');
    await eventually(async () => expect(await receiptOf(gateway, pausing)).toMatchObject({ status: 'unconfirmed' }));
    expect(await gateway.check(agent)).toMatchObject(refused);
    await acknowledge(gateway, agent, 1, 'FAILED');
    expect(await gateway.check(agent)).toMatchObject(refused);
    expect(await gateway.heartbeat(agent)).toMatchObject({ suspended: false });
    expect(await gateway.complete(agent, 'b:s')).toMatchObject({ state: 'completing' });
    await acknowledge(gateway, agent, 1, 'EFFECTIVE');
    expect(await gateway.check(agent)).toMatchObject(allowed);
    expect(await stream.heard(1)).toEqual(['1 pause a:s']);
    expect(gateway.audit().filter((entry) => entry.event_type === 'OpControlUnconfirmed')).toMatchObject([
      { op_id: 'a:s', actor: { kind: 'system' }, payload: { action: 'pause', blocked: true } },
    ]);
  });

  test('is refused after a kill, too, until an operator resumes it', async () => {
    let gateway = await start(impatient);
    try {
      const agent = await busy(gateway, 'bot', 'a');
      await ControlStream.open(gateway, agent);
      await control(gateway, 'a:s', 'terminate');
      await eventually(async () => expect(await gateway.check(agent)).toMatchObject(refused));
      gateway = await gateway.restart('SIGKILL', { env: impatient });
      expect(await gateway.check(agent)).toMatchObject(refused);
      const anew = await gateway.register({ agentId: 'bot' });
      expect(await gateway.check(anew)).toMatchObject(refused);
      await gateway.api.post(agentPath(anew, 'resume'), bootstrapKey, { reason: 'looked at it' });
      expect(await gateway.check(anew)).toMatchObject(allowed);
      gateway = await gateway.restart('SIGKILL', { env: impatient });
      expect(await gateway.check(anew)).toMatchObject(allowed);
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  });

  test('and never listened is refused only where all must confirm', async () => {
    await using lenient = await start(impatient);
    const free = await busy(lenient, 'bot', 'a');
    const pausing = await control(lenient, 'a:s', 'pause');
    await eventually(async () => expect(await receiptOf(lenient, pausing)).toMatchObject({ status: 'unconfirmed' }));
    expect(await lenient.check(free)).toMatchObject(allowed);
    await using strict = await start({ ...impatient, SVC_CONTROL_STRICT: 'true' });
    const bound = await busy(strict, 'bot', 'a');
    await control(strict, 'a:s', 'pause');
    await eventually(async () => expect(await strict.check(bound)).toMatchObject(refused));
  });
});

describe('after a kill', () => {
  test('unacknowledged messages come in the same order, numbers go on, and receipts are what they were', async () => {
    let gateway = await start();
    try {
      const agent = await busy(gateway, 'bot', 'a', 'b', 'c');
      const first = await ControlStream.open(gateway, agent);
      const pausing = await control(gateway, 'a:s', 'pause');
      const terminating = await control(gateway, 'b:s', 'terminate');
      await control(gateway, 'c:s', 'pause');
      await first.heard(3);
      await acknowledge(gateway, agent, 2, 'EFFECTIVE');
      gateway = await gateway.restart('SIGKILL', { env: patient });
      const stream = await ControlStream.open(gateway, agent);
      expect(await stream.heard(2)).toEqual(['1 pause a:s', '3 pause c:s']);
      expect(await receiptOf(gateway, terminating)).toMatchObject({ status: 'effective' });
      await acknowledge(gateway, agent, 2, 'RECEIVED');
      expect(await receiptOf(gateway, terminating)).toMatchObject({ status: 'effective' });
      await control(gateway, 'a:s', 'resume');
      expect((await stream.heard(3)).at(-1)).toBe('4 resume a:s');
      await acknowledge(gateway, agent, 1, 'EFFECTIVE');
      expect(await receiptOf(gateway, pausing)).toMatchObject({ status: 'effective' });
      const ops = await gateway.api.get<RouteOutput<Routes['listOps']>>('/api/v1/ops', bootstrapKey);
      const shown = ops.body.items.map((op) => [op.op_id, op.state, op.control?.action, op.control?.status]);
      // Newest first.
      expect(shown).toEqual([
        ['c:s', 'paused', 'pause', 'delivered'],
        ['b:s', 'terminated', 'terminate', 'effective'],
        ['a:s', 'running', 'resume', 'delivered'],
      ]);
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  });
});

test('what a silent agent runs is shown as stale until it is heard of again', async () => {
  await using gateway = await start({ ...patient, SVC_OPS_STALE_SECS: '0.5' });
  const agent = await busy(gateway, 'bot', 'a');
  const isStale = async () =>
    (await gateway.api.get<RouteOutput<Routes['getOp']>>('/api/v1/ops/a%3As', bootstrapKey)).body.stale;
  await eventually(async () => expect(await isStale()).toBe(true));
  await gateway.heartbeat(agent);
  expect(await isStale()).toBe(false);
  await eventually(async () => expect(await isStale()).toBe(true));
  await ControlStream.open(gateway, agent);
  expect(await isStale()).toBe(false);
});

test('the time to stop is measured', async () => {
  await using gateway = await start();
  const agent = await busy(gateway, 'bot', 'a');
  await control(gateway, 'a:s', 'pause');
  await acknowledge(gateway, agent, 1, 'EFFECTIVE');
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/^reeve_control_seconds_count\{action="pause",stage="acked"\} 1$/m);
  expect(text).toMatch(/^reeve_control_seconds_count\{action="pause",stage="effective"\} 1$/m);
  expect(text).toMatch(/^reeve_controls_total\{action="pause",status="effective"\} 1$/m);
});

describe('whose word a receipt is', () => {
  const byKernel = { evidence: Evidence.KERNEL, processes: 12 };

  test("is the kernel's for an operation on a floor, and shown wherever the receipt is", async () => {
    await using gateway = await start();
    const agent = await gateway.register({ agentId: 'bot' });
    await gateway.check(agent, { traceId: 'a', spanId: 's', floor: true });
    const paused = await control(gateway, 'a:s', 'pause');
    expect(paused).toMatchObject({ op: { floor: true }, control: { evidence: 'none', processes: null } });
    await acknowledge(gateway, agent, 1, 'RECEIVED');
    expect(await receiptOf(gateway, paused)).toMatchObject({ status: 'acked', evidence: 'agent', processes: null });
    await acknowledge(gateway, agent, 1, 'EFFECTIVE', '', byKernel);
    const kernel = { status: 'effective', evidence: 'kernel', processes: 12 };
    expect(await receiptOf(gateway, paused)).toMatchObject(kernel);
    const { body } = await gateway.api.get('/api/v1/ops/a%3As', bootstrapKey);
    expect(body).toMatchObject({ floor: true, control: kernel });
    const entries = gateway.audit().filter(({ event_type: type }) => type === 'OpControlAcknowledged');
    expect(entries.at(-1)?.payload).toMatchObject({ evidence: 'kernel', processes: 12, outcome: 'effective' });
    await using again = await gateway.restart('SIGKILL', { policies: { 'all.yaml': allowAll }, env: patient });
    expect(await receiptOf(again, paused)).toMatchObject(kernel);
  });

  test('cannot be claimed as the kernel\u2019s for any other operation', async () => {
    await using gateway = await start();
    const agent = await busy(gateway, 'bot', 'a');
    const paused = await control(gateway, 'a:s', 'pause');
    for (const outcome of ['RECEIVED', 'EFFECTIVE', 'FAILED'] as const) {
      await expect(acknowledge(gateway, agent, 1, outcome, '', byKernel)).rejects.toMatchObject({
        code: status.PERMISSION_DENIED,
      });
    }
    expect(await receiptOf(gateway, paused)).toMatchObject({ evidence: 'none', acked_at: null });
    await expect(acknowledge(gateway, agent, 1, 'EFFECTIVE', '', { evidence: 3 as Evidence })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
    // A number is nobody's word without the kernel.
    await acknowledge(gateway, agent, 1, 'EFFECTIVE', '', { evidence: Evidence.AGENT, processes: 12 });
    expect(await receiptOf(gateway, paused)).toMatchObject({ evidence: 'agent', processes: null });
  });
});

import { execFile } from 'node:child_process';
import { status } from '@grpc/grpc-js';
import type { AckOpControlRequest, CompleteActionRequest, OpControlSubscribeRequest } from '@reeve/contract';
import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import type { Client } from '../test/client.ts';
import { apiKey, startClient } from '../test/client.ts';
import type { Script } from '../test/scripted-gateway.ts';
import { allowing, answering, denying, unavailable } from '../test/scripted-answers.ts';
import { ScriptedGateway } from '../test/scripted-gateway.ts';
import type { ConnectionEvent, ConnectOptions, Control, Operation, RegisterOptions } from './index.ts';
import { ActionDeniedError, connect, OperationTerminatedError, ReeveClosed, ReeveUnauthenticated } from './index.ts';

const ids = { traceId: 't', spanId: 's' };
const id = { orgId: 'acme', teamId: 'core', agentId: 'bot' };

/** A client whose control stream is open. */
async function startControlled(
  script: Script = {},
  registration: Partial<RegisterOptions> = {},
  options: Partial<ConnectOptions> = {},
): Promise<Client> {
  const client = await startClient(script, options, registration);
  await poll(() => client.gateway.streams.size).toBe(1);
  return client;
}

/** Work that goes on until the test ends it. */
function startWork(client: Client, options: Parameters<Client['agent']['run']>[2] = {}) {
  const started = Promise.withResolvers<Operation>();
  const work = Promise.withResolvers<unknown>();
  const run = client.agent.run(
    { tool: 'search' },
    (operation) => {
      started.resolve(operation);
      return work.promise;
    },
    { ...ids, ...options },
  );
  run.catch(() => {});
  return { run, operation: started.promise, end: work.resolve, fail: work.reject };
}

/** Generous: the machine may be busy. */
function poll<Value>(read: () => Value) {
  return expect.poll(read, { timeout: 20_000 });
}

const completions = (client: Client) => client.gateway.messages<CompleteActionRequest>('completeAction');
const subscriptions = (client: Client) => client.gateway.messages<OpControlSubscribeRequest>('opControlStream');
const whenAcked = (client: Client, acks: readonly string[]) => poll(() => client.gateway.acks).toEqual(acks);

test('an agent can be controlled from its registration on', async () => {
  const events: ConnectionEvent[] = [];
  await using client = await startControlled({}, { onConnection: (event) => events.push(event) });
  expect(subscriptions(client)).toMatchObject([
    { agentId: id, credentialToken: expect.stringMatching(/^rva_/), afterSequence: 0 },
  ]);
  await poll(() => events).toEqual([{ type: 'connected', address: client.gateway.address, again: false }]);
});

test('a terminated operation is aborted, and confirmed once its work has really ended', async () => {
  const controls: Control[] = [];
  await using client = await startControlled({}, { onControl: (control) => controls.push(control) });
  const { run, operation, fail } = startWork(client);
  const { signal, state } = await operation;
  expect([signal.aborted, state]).toEqual([false, 'running']);
  client.gateway.control('t:s', 'TERMINATE', { reason: 'looks wrong' });
  await whenAcked(client, ['1 received']);
  expect(signal.reason).toBeInstanceOf(OperationTerminatedError);
  expect(signal.reason).toMatchObject({ opId: 't:s', reason: 'looks wrong', controlId: 'ctl_1' });
  expect((await operation).state).toBe('terminated');
  fail(signal.reason);
  await expect(run).rejects.toBe(signal.reason);
  expect(client.gateway.acks).toEqual(['1 received', '1 effective']);
  expect(completions(client)).toEqual([]);
  expect(controls).toMatchObject([{ opId: 't:s', signal: 'terminate', reason: 'looks wrong', sequence: 1 }]);
});

test('what terminated work returned, or threw by itself, is not lost', async () => {
  await using client = await startControlled();
  const first = startWork(client);
  await first.operation;
  client.gateway.control('t:s', 'TERMINATE');
  await whenAcked(client, ['1 received']);
  first.end('paid 42');
  await expect(first.run).rejects.toMatchObject({ code: 'operation_terminated', result: 'paid 42' });
  const second = startWork(client);
  await second.operation;
  client.gateway.control('t:s', 'TERMINATE');
  await poll(() => client.gateway.acks).toContain('2 received');
  const cause = new RangeError('no such page');
  second.fail(cause);
  await expect(second.run).rejects.toMatchObject({ code: 'operation_terminated', cause });
});

test('paused work waits at its checkpoint, and goes on when it is resumed', async () => {
  await using client = await startControlled();
  const steps: string[] = [];
  const go = Promise.withResolvers<void>();
  const run = client.agent.run(
    { tool: 'search' },
    async ({ checkpoint, spent, note }) => {
      await checkpoint();
      steps.push('one');
      await go.promise;
      await checkpoint();
      steps.push('two');
      spent(250);
      note('two steps');
      return 'done';
    },
    ids,
  );
  await poll(() => steps).toEqual(['one']);
  client.gateway.control('t:s', 'PAUSE');
  await whenAcked(client, ['1 received']);
  expect(client.agent.operation('t:s')?.state).toBe('paused');
  go.resolve();
  await whenAcked(client, ['1 received', '1 effective']);
  expect(steps).toEqual(['one']);
  client.gateway.control('t:s', 'RESUME');
  expect(await run).toBe('done');
  await whenAcked(client, ['1 received', '1 effective', '2 received', '2 effective']);
  expect(completions(client)).toMatchObject([{ opId: 't:s', outcome: 1, actualCostMicros: 250, detail: 'two steps' }]);
});

test('work without checkpoints is held at its end while it is paused', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'PAUSE');
  await whenAcked(client, ['1 received']);
  end('done');
  await whenAcked(client, ['1 received', '1 effective']);
  expect(completions(client)).toEqual([]);
  client.gateway.control('t:s', 'RESUME');
  expect(await run).toBe('done');
  expect(completions(client)).toMatchObject([{ opId: 't:s', outcome: 1 }]);
});

test('work that has ended can still be terminated while it is held', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'PAUSE');
  client.gateway.control('t:s', 'TERMINATE', { reason: 'enough' });
  await whenAcked(client, ['1 received', '2 received']);
  end('done');
  await expect(run).rejects.toMatchObject({ code: 'operation_terminated', reason: 'enough', result: 'done' });
  expect(client.gateway.acks.toSorted()).toEqual(['1 effective', '1 received', '2 effective', '2 received']);
  expect(completions(client)).toEqual([]);
});

test('an operation that is not known here cannot be running here', async () => {
  await using client = await startControlled();
  client.gateway.control('before:restart', 'TERMINATE');
  client.gateway.control('before:restart', 'PAUSE');
  await poll(() => client.gateway.acks.toSorted()).toEqual(['1 effective', '1 received', '2 effective', '2 received']);
  const acks = client.gateway.messages<AckOpControlRequest>('ackOpControl');
  expect(acks.find(({ outcome }) => outcome === 2)).toMatchObject({
    agentId: id,
    credentialToken: subscriptions(client)[0]?.credentialToken,
    detail: 'not running in this process',
  });
});

test.each([{ shared: true }, { waitsOnly: true }])(
  'what others do as the same agent is left to them: %j',
  async (as) => {
    await using client = await startControlled({}, as);
    expect(subscriptions(client)[0]?.waitsOnly).toBe('waitsOnly' in as);
    const { run, operation, end } = startWork(client);
    await operation;
    client.gateway.control('of:another', 'TERMINATE');
    client.gateway.control('t:s', 'TERMINATE');
    await whenAcked(client, ['2 received']);
    end('done');
    await expect(run).rejects.toThrow(OperationTerminatedError);
    expect(client.gateway.acks).toEqual(['2 received', '2 effective']);
  },
);

test('a control that comes twice is carried out once and acknowledged twice', async () => {
  const controls: Control[] = [];
  await using client = await startControlled({}, { onControl: (control) => controls.push(control) });
  const { run, operation, end } = startWork(client);
  await operation;
  const pause = client.gateway.control('t:s', 'PAUSE');
  client.gateway.control('t:s', 'RESUME');
  await whenAcked(client, ['1 received', '2 received', '2 effective']);
  client.gateway.deliver(pause);
  await whenAcked(client, ['1 received', '2 received', '2 effective', '1 received']);
  expect((await operation).state).toBe('running');
  end('done');
  expect(await run).toBe('done');
  expect(controls.map(({ signal }) => signal)).toEqual(['pause', 'resume']);
});

test('a signal from a later version is not taken for another', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'PAUSE', { signal: 99 as never });
  await whenAcked(client, ['1 received', '1 failed']);
  end('done');
  expect(await run).toBe('done');
});

test('a hook that cannot comply has the control fail, until it comes true by itself', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client, {
    onControl: ({ signal }) => {
      throw new Error(`cannot ${signal}: the payment has been sent`);
    },
  });
  await operation;
  client.gateway.control('t:s', 'TERMINATE');
  await whenAcked(client, ['1 received', '1 failed']);
  expect(client.gateway.messages<AckOpControlRequest>('ackOpControl')[1]).toMatchObject({
    detail: 'cannot terminate: the payment has been sent',
  });
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
  expect(client.gateway.acks.at(-1)).toBe('1 effective');
});

test("what the kernel says of a control is told as the kernel's word, or as its own where that is refused", async () => {
  await using client = await startControlled({
    ackOpControl: ({ evidence, sequence }) =>
      evidence === 2 && sequence > 1 ? { code: status.PERMISSION_DENIED, details: 'no floor' } : {},
  });
  const { run, operation, end } = startWork(client, { floor: true, onControl: () => ({ processes: 4 }) });
  await operation;
  expect(client.gateway.messages('checkAction').map(({ floor }) => floor)).toEqual([true]);
  const words = () =>
    client.gateway
      .messages<AckOpControlRequest>('ackOpControl')
      .filter(({ outcome }) => outcome === 2)
      .map(({ evidence, processes }) => [evidence, processes]);
  client.gateway.control('t:s', 'PAUSE');
  await poll(words).toEqual([[2, 4]]);
  client.gateway.control('t:s', 'RESUME');
  await poll(words).toEqual([
    [2, 4],
    [2, 4],
    [undefined, undefined],
  ]);
  end('done');
  await run;
});

test('after a loss the stream goes on where it was, and nothing of the time between is missed', async () => {
  const events: ConnectionEvent[] = [];
  await using client = await startControlled({}, { onConnection: (event) => events.push(event) });
  const { run, operation, end } = startWork(client);
  const { state } = await operation;
  expect(state).toBe('running');
  client.gateway.control('t:s', 'PAUSE');
  client.gateway.control('t:s', 'RESUME');
  await whenAcked(client, ['1 received', '2 received', '2 effective']);
  const comeBack = await client.gateway.away();
  client.gateway.streams.clear();
  client.gateway.control('t:s', 'TERMINATE', { reason: 'while you were away' });
  await poll(() => events.length).toBe(2);
  await comeBack();
  await poll(() => client.gateway.acks.at(-1)).toBe('3 received');
  expect(subscriptions(client).at(-1)).toMatchObject({ afterSequence: 2 });
  end('done');
  await expect(run).rejects.toThrow('while you were away');
  const { address } = client.gateway;
  expect(events).toEqual([
    { type: 'connected', address, again: false },
    { type: 'lost', address, reason: expect.stringMatching(/./) },
    { type: 'connected', address, again: true },
  ]);
});

test('who listens anew gets another stream, and waits until there is one', async () => {
  const events: ConnectionEvent[] = [];
  await using client = await startControlled({}, { onConnection: (event) => events.push(event) });
  const [before] = client.gateway.streams;
  await client.agent.listenAnew();
  expect(subscriptions(client)).toHaveLength(2);
  await poll(() => [client.gateway.streams.size, client.gateway.streams.has(before as never)]).toEqual([1, false]);
  const comeBack = await client.gateway.away();
  client.gateway.streams.clear();
  let isHeard = false;
  const heard = client.agent.listenAnew().then(() => (isHeard = true));
  await poll(() => events.at(-1)?.type).toBe('lost');
  expect(isHeard).toBe(false);
  await comeBack();
  await heard;
  expect(client.gateway.streams.size).toBe(1);
  const left = client.agent.listenAnew();
  await client.agent.close();
  await left;
  await expect(client.agent.listenAnew()).rejects.toThrow(ReeveClosed);
});

test('a stream that the gateway ends, however it does, is opened again', async () => {
  await using client = await startControlled();
  for (const failure of [unavailable(), { code: status.INTERNAL, details: 'oops' }]) {
    const before = subscriptions(client).length;
    client.gateway.endStreams(failure);
    await poll(() => subscriptions(client).length).toBe(before + 1);
  }
  await poll(() => client.gateway.streams.size).toBe(1);
  for (const stream of client.gateway.streams) stream.end();
  client.gateway.streams.clear();
  await poll(() => client.gateway.streams.size).toBe(1);
});

test('acknowledgements that do not get through are told again until they do', async () => {
  await using client = await startControlled({
    ackOpControl: (_, nth) => (nth <= 3 ? unavailable() : nth === 4 ? 'cut' : {}),
  });
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'TERMINATE');
  await poll(() => client.gateway.acks.length).toBeGreaterThanOrEqual(5);
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
  await poll(() => client.gateway.acks.at(-1)).toBe('1 effective');
});

test('an acknowledgement that the gateway does not want is not told again', async () => {
  await using client = await startControlled({
    ackOpControl: () => ({ code: status.NOT_FOUND, details: 'no such control' }),
  });
  client.gateway.control('un:known', 'TERMINATE');
  client.gateway.control('un:known', 'TERMINATE');
  await poll(() => client.gateway.acks.toSorted()).toEqual(['1 effective', '1 received', '2 effective', '2 received']);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(client.gateway.acks).toHaveLength(4);
});

test('a token that is not accepted ends control, with one word of it, and whoever waits hears it', async () => {
  const events: ConnectionEvent[] = [];
  let revoked = 0;
  await using client = await startControlled(
    {},
    { onConnection: (event) => events.push(event), onRevoked: () => revoked++ },
  );
  const { run, operation, end } = startWork(client);
  const { checkpoint } = await operation;
  client.gateway.control('t:s', 'PAUSE');
  await whenAcked(client, ['1 received']);
  const waiting = checkpoint();
  waiting.catch(() => {});
  client.gateway.endStreams({ code: status.UNAUTHENTICATED, details: 'credential token mismatch' });
  await expect(waiting).rejects.toBeInstanceOf(ReeveUnauthenticated);
  expect(events.at(-1)).toEqual({
    type: 'ended',
    address: client.gateway.address,
    reason: 'credential token mismatch',
  });
  expect([revoked, client.agent.revoked]).toEqual([1, true]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([subscriptions(client).length, revoked]).toEqual([1, 1]);
  end('done');
  expect(await run).toBe('done');
});

test('a gateway without live control is told of once, and everything else goes on', async () => {
  const events: ConnectionEvent[] = [];
  await using client = await startClient(
    {
      opControlStream: () => ({ code: status.UNIMPLEMENTED, details: 'no such method' }),
      checkAction: (request, nth) => (nth === 1 ? allowing(request) : answering(Decision.PENDING, request)),
    },
    {},
    { onConnection: (event) => events.push(event) },
  );
  const { address } = client.gateway;
  await poll(() => events).toEqual([{ type: 'unsupported', address, reason: 'no such method' }]);
  expect(await client.agent.run({ tool: 'search' }, () => 42)).toBe(42);
  await expect(client.agent.run({ tool: 'search' }, () => 42)).rejects.toBeInstanceOf(ActionDeniedError);
  expect(subscriptions(client)).toHaveLength(1);
  expect(events).toHaveLength(1);
});

test('a held action is done once it is allowed', async () => {
  await using client = await startControlled({
    checkAction: (request) =>
      answering(Decision.PENDING, request, { approvalId: 'ap-1', opState: 'pending', reason: 'needs approval' }),
  });
  const { run, operation, end } = startWork(client);
  await poll(() => client.gateway.count('checkAction')).toBe(1);
  client.gateway.control('t:s', 'ALLOW', { reason: 'fine by me' });
  expect((await operation).answer).toMatchObject({
    decision: 'allow',
    allowed: true,
    opState: 'running',
    reason: 'fine by me',
    approvalId: 'ap-1',
  });
  end('done');
  expect(await run).toBe('done');
  await whenAcked(client, ['1 received', '1 effective']);
  expect(client.gateway.count('checkAction')).toBe(1);
});

test('a held action that is rejected, or takes too long, or is given up, is never done', async () => {
  await using client = await startControlled({
    checkAction: (request) => answering(Decision.PENDING, request, { reason: 'needs approval' }),
  });
  const rejected = startWork(client);
  await poll(() => client.gateway.count('checkAction')).toBe(1);
  client.gateway.control('t:s', 'TERMINATE', { reason: 'rejected: too dear' });
  await expect(rejected.run).rejects.toThrow('the operation t:s was terminated: rejected: too dear');

  const late = startWork(client, { spanId: 'late', waitMs: 30 });
  await expect(late.run).rejects.toMatchObject({ message: 'held: needs approval', answer: { decision: 'pending' } });

  const controller = new AbortController();
  const givenUp = startWork(client, { spanId: 'given-up', signal: controller.signal });
  await poll(() => client.gateway.count('checkAction')).toBe(3);
  controller.abort(new Error('changed my mind'));
  await expect(givenUp.run).rejects.toThrow('changed my mind');
  expect(completions(client)).toEqual([]);

  // The gateway allows both after all. The SDK cancels them at once, at no cost, because nobody waits for them.
  client.gateway.control('t:late', 'ALLOW');
  client.gateway.control('t:given-up', 'ALLOW');
  await poll(() => completions(client)).toMatchObject([
    { opId: 't:late', outcome: 3, actualCostMicros: 0 },
    { opId: 't:given-up', outcome: 3, actualCostMicros: 0 },
  ]);
});

test('an operation that is paused already is waited for', async () => {
  await using client = await startControlled({
    checkAction: (request) =>
      answering(Decision.PENDING, request, { opState: 'paused', reason: 'operation is paused' }),
  });
  const { run, operation, end } = startWork(client);
  await poll(() => client.gateway.count('checkAction')).toBe(1);
  client.gateway.control('t:s', 'RESUME');
  await operation;
  end('done');
  expect(await run).toBe('done');
});

test('what is held asks again after a loss, as its release may be lost too', async () => {
  await using client = await startControlled({
    checkAction: (request, nth) => {
      if (nth === 2)
        return answering(Decision.DENY, request, { opId: '', policyRule: 'identity', reason: 'suspended' });
      return nth <= 3 ? answering(Decision.PENDING, request, { reason: 'needs approval' }) : allowing(request);
    },
  });
  const { run, end } = startWork(client);
  end('done');
  for (let asked = 1; asked <= 3; asked++) {
    await poll(() => client.gateway.count('checkAction')).toBe(asked);
    await poll(() => client.gateway.streams.size).toBe(1);
    client.gateway.endStreams();
  }
  expect(await run).toBe('done');
  expect(new Set(client.gateway.messages('checkAction').map(({ spanId }) => spanId))).toEqual(new Set(['s']));
});

test('a control that overtakes the answer counts', async () => {
  await using client = await startControlled({
    checkAction: async (request) => {
      const opId = `${request.traceId}:${request.spanId}`;
      const acked = () => client.gateway.acks.filter((ack) => ack.endsWith('effective')).length;
      const before = acked();
      client.gateway.control(opId, request.spanId === 'paused' ? 'PAUSE' : 'TERMINATE', { reason: 'too fast' });
      await poll(acked).toBeGreaterThan(before);
      return allowing(request);
    },
  });
  let ran = false;
  const work = () => {
    ran = true;
  };
  await expect(client.agent.run({ tool: 'a' }, work, ids)).rejects.toThrow('was terminated: too fast');
  expect(await client.agent.check({ tool: 'a' })).toMatchObject({
    decision: 'deny',
    allowed: false,
    opState: 'terminated',
    reason: 'too fast',
  });
  expect(await client.agent.check({ tool: 'a' }, { spanId: 'paused' })).toMatchObject({
    decision: 'pending',
    allowed: false,
    opState: 'paused',
  });
  expect(ran).toBe(false);
  const paused = client.agent.run({ tool: 'a' }, work, { traceId: 'x', spanId: 'paused' });
  await poll(() => client.agent.operation('x:paused')?.state).toBe('paused');
  client.gateway.control('x:paused', 'RESUME');
  await paused;
  expect(ran).toBe(true);
});

test('who checks and completes by hand can be stopped too', async () => {
  await using client = await startControlled();
  const { agent, gateway } = client;
  await agent.check({ tool: 'search' }, ids);
  const operation = agent.operation('t:s');
  expect(operation).toMatchObject({ id: 't:s', state: 'running' });
  gateway.control('t:s', 'TERMINATE', { reason: 'stop' });
  await whenAcked(client, ['1 received']);
  expect(operation?.signal.reason).toMatchObject({ reason: 'stop' });
  await expect(operation?.checkpoint()).rejects.toThrow(OperationTerminatedError);
  await agent.complete('t:s', { outcome: 'cancelled' });
  expect(gateway.acks).toEqual(['1 received', '1 effective']);
  expect(completions(client)).toEqual([]);
  expect(agent.operation('t:s')).toBeUndefined();
  const answers = await agent.checkMany([{ action: { tool: 'a' } }, { action: { tool: 'b' } }]);
  expect(answers.map(({ opId }) => agent.operation(opId)?.state)).toEqual(['running', 'running']);
});

test('a report that is refused because the operation is paused follows when it is resumed', async () => {
  await using client = await startControlled({
    completeAction: (_, nth) =>
      nth === 1 ? { code: status.FAILED_PRECONDITION, details: 'operation is paused' } : { op: undefined },
  });
  const { run, operation, end } = startWork(client);
  (await operation).spent(7);
  // The pause happened at the gateway. Its control has not arrived yet.
  end('done');
  expect(await run).toBe('done');
  client.gateway.control('t:s', 'PAUSE');
  await whenAcked(client, ['1 received', '1 effective']);
  expect(completions(client)).toHaveLength(1);
  client.gateway.control('t:s', 'RESUME');
  await poll(() => completions(client)).toHaveLength(2);
  expect(completions(client)[1]).toEqual(completions(client)[0]);
});

test('reports that are owed follow as soon as the gateway is back', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client, { deadlineMs: 100 });
  await operation;
  client.gateway.script = { completeAction: () => unavailable() };
  client.gateway.endStreams();
  end('done');
  await run;
  client.gateway.script = {};
  const before = completions(client).length;
  client.gateway.endStreams();
  await poll(() => completions(client).length).toBe(before + 1);
});

test('a report that failed although the gateway is connected is sent again without a wait for the next heartbeat', async () => {
  const script: Script = { completeAction: (_, nth) => (nth === 1 ? unavailable() : { op: undefined }) };
  await using client = await startControlled(script, {}, { retry: { burst: 0 } });
  await client.agent.run({ tool: 'search' }, () => 42);
  await poll(() => completions(client)).toHaveLength(2);
});

test('operations stay under control when the agent is registered again', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  await client.reeve.register(id);
  await poll(() => subscriptions(client).length).toBe(2);
  const [first, second] = subscriptions(client).map(({ credentialToken }) => credentialToken);
  expect(first).not.toBe(second);
  await poll(() => client.gateway.streams.size).toBe(1);
  client.gateway.control('t:s', 'TERMINATE');
  await whenAcked(client, ['1 received']);
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
  const acks = client.gateway.messages<AckOpControlRequest>('ackOpControl');
  expect(acks.map(({ credentialToken }) => credentialToken)).toEqual([second, second]);
});

test('where a gateway knows nothing of the agent any more, its controls are counted from the start', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'PAUSE', { sequence: 3 });
  await whenAcked(client, ['3 received']);
  client.gateway.endStreams({ code: status.UNAUTHENTICATED, details: 'agent is not registered' });
  await poll(() => client.agent.revoked).toBe(true);
  client.gateway.forgetControls();
  await client.reeve.register(id);
  await poll(() => client.gateway.streams.size).toBe(1);
  expect(subscriptions(client).at(-1)).toMatchObject({ afterSequence: 0 });
  client.gateway.control('t:s', 'RESUME', { sequence: 1 });
  await poll(() => client.agent.operation('t:s')?.state).toBe('running');
  client.gateway.control('t:s', 'TERMINATE', { sequence: 3 });
  await poll(() => client.gateway.acks).toEqual(['3 received', '1 received', '1 effective', '3 received']);
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
  expect(client.gateway.acks.slice(4)).toEqual(['3 effective']);
});

test('a wrong token of one does not take the control of another', async () => {
  const right = 'the-right-token-of-the-agent-0123456789';
  await using client = await startClient(
    {
      opControlStream: ({ credentialToken }) =>
        credentialToken === right ? {} : { code: status.UNAUTHENTICATED, details: 'credential token mismatch' },
    },
    {},
    { token: right },
  );
  await poll(() => client.gateway.streams.size).toBe(1);
  const wrong = client.reeve.attach({ ...id, token: 'not-the-token' });
  await poll(() => wrong.revoked).toBe(true);
  await poll(() => client.gateway.streams.size).toBe(1);
  expect(client.agent.revoked).toBe(false);
  const { run, operation, end } = startWork(client);
  await operation;
  client.gateway.control('t:s', 'TERMINATE');
  await whenAcked(client, ['1 received']);
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
});

test('closing an agent tells what is owed, ends its control, and leaves the client to others', async () => {
  await using client = await startControlled();
  const { agent, gateway, reeve } = client;
  const other = await reeve.register({ agentId: 'other' });
  const { operation } = startWork(client);
  const { checkpoint } = await operation;
  gateway.control('t:s', 'PAUSE');
  await whenAcked(client, ['1 received']);
  const waiting = checkpoint();
  waiting.catch(() => {});
  await agent.close();
  expect(gateway.acks).toEqual(['1 received', '1 effective']);
  await expect(waiting).rejects.toBeInstanceOf(ReeveClosed);
  await poll(() => gateway.streams.size).toBe(1);
  await expect(agent.check({ tool: 'search' })).rejects.toThrow('the agent is closed');
  expect(await other.check({ tool: 'search' })).toMatchObject({ allowed: true });
});

test('deregistering stops what is under way', async () => {
  const events: ConnectionEvent[] = [];
  let revoked = 0;
  await using client = await startControlled(
    {
      deregisterAgent: () => {
        client.gateway.endStreams({ code: status.UNAUTHENTICATED, details: 'agent is not registered' });
        return {};
      },
    },
    { onConnection: (event) => events.push(event), onRevoked: () => revoked++ },
  );
  const { run, operation, end } = startWork(client);
  const { signal } = await operation;
  await client.agent.check({ tool: 'search' }, { traceId: 'by', spanId: 'hand' });
  const byHand = client.agent.operation('by:hand');
  await client.agent.deregister('done');
  expect(signal.reason).toMatchObject({ reason: 'the agent was deregistered' });
  expect(byHand?.signal.reason).toMatchObject({ opId: 'by:hand', reason: 'the agent was deregistered' });
  expect(client.agent.operation('by:hand')).toBeUndefined();
  end('done');
  await expect(run).rejects.toThrow(OperationTerminatedError);
  expect(revoked).toBe(0);
  expect(events.map(({ type }) => type)).toEqual(['connected']);
});

test('an operation is run once at a time', async () => {
  await using client = await startControlled();
  const { run, operation, end } = startWork(client);
  await operation;
  await expect(startWork(client).run).rejects.toThrow('spanId: the operation t:s is being run already');
  end('done');
  expect(await run).toBe('done');
  expect(await client.agent.run({ tool: 'search' }, () => 'again', ids)).toBe('again');
});

test('a listener that throws breaks nothing', async () => {
  const errors: unknown[] = [];
  const collect = (error: unknown) => errors.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', collect);
  try {
    await using client = await startControlled(
      {},
      {
        onControl: () => {
          throw new Error('a mistake of mine');
        },
      },
    );
    client.gateway.control('un:known', 'TERMINATE');
    await whenAcked(client, ['1 received', '1 effective']);
    await poll(() => errors).toMatchObject([{ message: 'a mistake of mine' }]);
  } finally {
    process.removeListener('uncaughtException', collect);
    for (const listener of others) process.on('uncaughtException', listener);
  }
});

test('a denied action has no operation left to control', async () => {
  await using client = await startControlled({ checkAction: denying('not here') });
  await expect(client.agent.run({ tool: 'a' }, () => {}, ids)).rejects.toThrow('denied: not here');
  expect(client.agent.operation('t:s')).toBeUndefined();
});

test('a program lives while its work is paused, and not for the stream alone', async () => {
  await using gateway = await ScriptedGateway.start();
  const program = `
    import { connect } from '@reeve/sdk';
    const reeve = connect({ address: '${gateway.address}', apiKey: '${apiKey}' });
    const agent = await reeve.register({ agentId: 'bot' });
    await agent.run({ tool: 'a' }, async ({ checkpoint }) => {
      console.log('working');
      while (agent.operation('t:s').state === 'running') await new Promise((resolve) => setTimeout(resolve, 10));
      await checkpoint();
      console.log('resumed');
    }, { traceId: 't', spanId: 's' });
    console.log('done');`;
  let output = '';
  const ended = new Promise<number | null>((resolve) => {
    const child = execFile(process.execPath, ['--input-type=module'], () => resolve(child.exitCode));
    child.stdout?.on('data', (text: string) => (output += text));
    child.stdin?.end(program);
  });
  await poll(() => [output, gateway.streams.size]).toEqual(['working\n', 1]);
  gateway.control('t:s', 'PAUSE');
  await poll(() => gateway.acks).toEqual(['1 received', '1 effective']);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(output).toBe('working\n');
  gateway.control('t:s', 'RESUME');
  expect(await ended).toBe(0);
  expect(output).toBe('working\nresumed\ndone\n');
});

test('without a connection, an agent that is attached ends with its program all the same', async () => {
  const gateway = await ScriptedGateway.start();
  const { address } = gateway;
  await gateway[Symbol.asyncDispose]();
  const events: ConnectionEvent[] = [];
  using reeve = connect({ address, retry: { initialBackoffMs: 1, maxBackoffMs: 5 } });
  reeve.attach({ ...id, token: 'some-token', onConnection: (event) => events.push(event) });
  await poll(() => events.length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events).toMatchObject([{ type: 'lost', reason: expect.stringContaining('ECONNREFUSED') }]);
});

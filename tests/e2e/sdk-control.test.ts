import { spawn } from 'node:child_process';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Agent, ConnectionEvent, ConnectOptions, Operation, RunOptions } from '@reeve/sdk';
import { connect, OperationTerminatedError } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

type OpRecord = RouteOutput<Routes['getOp']>;
type Controlled = RouteOutput<Routes['pauseOp']>;
type Signal = 'pause' | 'resume' | 'terminate';

const id = { orgId: 'acme', teamId: 'support', agentId: 'bot' };

function client(gateway: TestGateway, options: Partial<ConnectOptions> = {}) {
  return connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 20_000, ...options });
}

/** Work that goes on until the test ends it. */
async function startWork(agent: Agent, options: RunOptions = {}) {
  const started = Promise.withResolvers<Operation>();
  const work = Promise.withResolvers<unknown>();
  const run = agent.run(
    { tool: 'search' },
    (operation) => {
      started.resolve(operation);
      operation.signal.addEventListener('abort', () => work.reject(operation.signal.reason));
      return work.promise;
    },
    options,
  );
  run.catch(started.reject);
  const operation = await started.promise;
  return { run, operation, opId: operation.id, end: work.resolve };
}

async function control(gateway: TestGateway, opId: string, signal: Signal, reason = ''): Promise<Controlled> {
  const path = `/api/v1/ops/${encodeURIComponent(opId)}/${signal}`;
  const answer = await gateway.api.post<Controlled>(path, bootstrapKey, { reason });
  expect(answer.status, answer.text).toBe(202);
  return answer.body;
}

async function readOp(gateway: TestGateway, opId: string): Promise<OpRecord> {
  const { status, body, text } = await gateway.api.get<OpRecord>(
    `/api/v1/ops/${encodeURIComponent(opId)}`,
    bootstrapKey,
  );
  expect(status, text).toBe(200);
  return body;
}

function whenControl(gateway: TestGateway, opId: string, action: Signal, status: string): Promise<void> {
  return eventually(async () => expect((await readOp(gateway, opId)).control).toMatchObject({ action, status }));
}

test('an operator pauses, resumes and terminates work that is under way, and sees that it happened', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const { run, operation, opId } = await startWork(agent);

  await control(gateway, opId, 'pause', 'a look at the bill');
  await whenControl(gateway, opId, 'pause', 'acked');
  expect(operation.state).toBe('paused');
  let passed = false;
  const waiting = operation.checkpoint().then(() => (passed = true));
  await whenControl(gateway, opId, 'pause', 'effective');
  expect(passed).toBe(false);

  await control(gateway, opId, 'resume');
  await waiting;
  await whenControl(gateway, opId, 'resume', 'effective');
  expect(operation.state).toBe('running');

  const { control: asked } = await control(gateway, opId, 'terminate', 'enough of it');
  const error = await run.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OperationTerminatedError);
  expect(error).toMatchObject({ opId, reason: 'enough of it', controlId: asked?.id });
  expect(await readOp(gateway, opId)).toMatchObject({
    state: 'terminated',
    control: { action: 'terminate', status: 'effective', detail: 'the work has ended' },
  });
  const acked = gateway.audit().filter((entry) => entry.event_type === 'OpControlAcknowledged');
  expect(acked.map(({ payload }) => [payload['action'], payload['outcome']].join(' '))).toEqual([
    'pause received',
    'pause effective',
    'resume received',
    'resume effective',
    'terminate received',
    'terminate effective',
  ]);
});

test('a termination is confirmed when the work has really ended, and not before', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const { opId } = await agent.check({ tool: 'search' });
  await control(gateway, opId, 'terminate');
  await whenControl(gateway, opId, 'terminate', 'acked');
  expect(agent.operation(opId)?.signal.aborted).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await whenControl(gateway, opId, 'terminate', 'acked');
  await agent.complete(opId, { outcome: 'cancelled' });
  await whenControl(gateway, opId, 'terminate', 'effective');
});

test('suspending an agent pauses its work, and resuming it goes on', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const { run, operation, opId, end } = await startWork(agent);
  const path = '/api/v1/agents/acme/support/bot';
  await gateway.api.post(`${path}/suspend`, bootstrapKey, { reason: 'looks odd' });
  await eventually(() => expect(operation.state).toBe('paused'));
  expect(await agent.check({ tool: 'search' })).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  end('done');
  await whenControl(gateway, opId, 'pause', 'effective');
  await gateway.api.post(`${path}/resume`, bootstrapKey, { reason: 'it was nothing' });
  expect(await run).toBe('done');
  expect(await readOp(gateway, opId)).toMatchObject({ state: 'completing' });
});

test('one order stops all that an org does', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agents = await Promise.all([1, 2, 3].map((nth) => reeve.register({ ...id, agentId: `bot-${nth}` })));
  const works = await Promise.all(agents.flatMap((agent) => [startWork(agent), startWork(agent)]));
  const { body } = await gateway.api.post<{ changed: number; control_id: string }>('/api/v1/control', bootstrapKey, {
    action: 'terminate',
    scope: { org_id: 'acme' },
    reason: 'fire drill',
  });
  expect(body).toMatchObject({ changed: 6 });
  for (const { run } of works) await expect(run).rejects.toThrow('fire drill');
  await eventually(async () => {
    const { body: report } = await gateway.api.get(`/api/v1/control/${body.control_id}`, bootstrapKey);
    expect(report).toMatchObject({ counts: { effective: 6 } });
  });
});

test('an operation that is paused already is run once it is resumed', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const ids = { traceId: 'book', spanId: 'one' };
  await agent.check({ tool: 'search' }, ids);
  await control(gateway, 'book:one', 'pause');
  await whenControl(gateway, 'book:one', 'pause', 'acked');
  using restarted = client(gateway);
  const again = await restarted.register(id);
  const held = again.run({ tool: 'search' }, () => 'done', { ...ids, waitMs: 200 });
  await expect(held).rejects.toMatchObject({ code: 'action_denied', message: 'held: operation is paused' });
  const run = again.run({ tool: 'search' }, () => 'done', ids);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await control(gateway, 'book:one', 'resume');
  expect(await run).toBe('done');
  expect(await readOp(gateway, 'book:one')).toMatchObject({ state: 'completing' });
});

test('a report that came while the operation was paused is made up for when it is resumed', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const { opId } = await agent.check({ tool: 'search' }, { estimatedCostMicros: 900 });
  await control(gateway, opId, 'pause');
  const report = agent.complete(opId, { actualCostMicros: 700 });
  await expect(report).rejects.toMatchObject({ code: 'invalid_transition' });
  await whenControl(gateway, opId, 'pause', 'effective');
  await control(gateway, opId, 'resume');
  await eventually(async () => {
    expect(await readOp(gateway, opId)).toMatchObject({ state: 'completing', cost_micros: 700 });
  });
});

test('what the last process of an agent left running is confirmed as stopped by the next', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const first = client(gateway);
  const { opId } = await (await first.register(id)).check({ tool: 'search' });
  first.close();
  await control(gateway, opId, 'terminate');
  expect((await readOp(gateway, opId)).control?.status).not.toBe('effective');
  using second = client(gateway);
  await second.register(id);
  await whenControl(gateway, opId, 'terminate', 'effective');
  expect((await readOp(gateway, opId)).control?.detail).toBe('not running in this process');
});

test('an agent that is registered elsewhere is out of control here, and told so', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using here = client(gateway);
  using elsewhere = client(gateway);
  const events: ConnectionEvent[] = [];
  let revoked = 0;
  const agent = await here.register({
    ...id,
    onConnection: (event) => events.push(event),
    onRevoked: () => revoked++,
  });
  const { operation } = await startWork(agent);
  await eventually(() => expect(events).toEqual([{ type: 'connected', address: gateway.grpc, again: false }]));
  await elsewhere.register(id);
  await eventually(() => expect(events.at(-1)).toMatchObject({ type: 'ended' }));
  expect([agent.revoked, revoked]).toEqual([true, 1]);
  await expect(operation.checkpoint()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'over a gateway that ends by %s, all agents stay under control, with the tokens they have',
  async (signal) => {
    const before = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    await using after = await (async () => {
      using reeve = client(before);
      const events: string[] = [];
      const agents = await Promise.all(
        Array.from({ length: 10 }, (_, nth) =>
          reeve.register({ ...id, agentId: `bot-${nth}`, onConnection: ({ type }) => events.push(type) }),
        ),
      );
      const works = await Promise.all(agents.map((agent) => startWork(agent)));
      const [paused, ended, ...rest] = works;
      if (paused === undefined || ended === undefined) throw new Error('no work');
      await control(before, paused.opId, 'pause');
      await whenControl(before, paused.opId, 'pause', 'acked');
      const waiting = paused.operation.checkpoint();
      await whenControl(before, paused.opId, 'pause', 'effective');
      await before.kill(signal);
      // Work that ends meanwhile is reported afterwards.
      ended.end('done');
      const gateway = await TestGateway.start({ folder: before.folder, args: ['--grpc', before.grpc] });
      expect(await ended.run).toBe('done');
      await eventually(async () => {
        expect(await readOp(gateway, ended.opId)).toMatchObject({ state: 'completing' });
      });
      await control(gateway, paused.opId, 'resume');
      await waiting;
      for (const { opId } of rest) await control(gateway, opId, 'terminate', 'after the restart');
      for (const { run } of rest) await expect(run).rejects.toThrow('after the restart');
      for (const { opId } of rest) await whenControl(gateway, opId, 'terminate', 'effective');
      paused.end('done');
      expect(await paused.run).toBe('done');
      // Work that ends at once does not wait for its agent's stream.
      await eventually(() => expect(events.filter((type) => type === 'connected')).toHaveLength(20));
      expect(agents.filter((agent) => agent.revoked)).toEqual([]);
      return gateway;
    })();
    expect(after.grpc).toBe(before.grpc);
  },
);

test('the example can be paused, resumed and terminated, as the guide shows', async () => {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const env = { ...process.env, REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey, PAGES: '1000' };
  const child = spawn('node_modules/.bin/node', ['examples/stoppable-agent.ts'], { env });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const opId = await eventually(() => {
    const [, found] = /^operation (\S+)/m.exec(output) ?? [];
    expect(found, output).toBeDefined();
    return found ?? '';
  });
  await control(gateway, opId, 'pause', 'lunch');
  await whenControl(gateway, opId, 'pause', 'effective');
  await control(gateway, opId, 'resume', 'lunch is over');
  await whenControl(gateway, opId, 'resume', 'effective');
  await control(gateway, opId, 'terminate', 'wrong book');
  expect(await ended).toBe(0);
  expect(output).toMatch(
    /^ {2}pause: lunch\n {2}resume: lunch is over\n(page \d+\n)+ {2}terminate: wrong book\nstopped: wrong book\n/m,
  );
  await whenControl(gateway, opId, 'terminate', 'effective');
});

import { execFile } from 'node:child_process';
import { status } from '@grpc/grpc-js';
import * as fc from 'fast-check';
import type { CompleteActionRequest, OpControlSubscribeRequest } from '@reeve/contract';
import { expect, test } from 'vitest';
import { apiKey } from '../../test/client.ts';
import { startFleet } from '../../test/fleet.ts';
import { allowing, unavailable } from '../../test/scripted-answers.ts';
import { ScriptedGateway } from '../../test/scripted-gateway.ts';
import { connect } from '../index.ts';
import type { Agent, ConnectionEvent } from '../index.ts';
import { ProcessHold } from '../process-hold.ts';
import { Gateways } from './gateways.ts';

const many = (count: number) => Array.from({ length: count }, (_, index) => index);
const silentFor = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const shutDown = () => unavailable('the gateway is shutting down');

/** Generous: the machine may be busy. */
function poll<Value>(read: () => Value) {
  return expect.poll(read, { timeout: 20_000 });
}

async function checks(agent: Agent, count: number) {
  const answers = await Promise.all(many(count).map((i) => agent.check({ tool: 'a' }, { spanId: `s${i}` })));
  return answers.filter(({ source }) => source !== 'gateway');
}

const endpoints = (count: number) => many(count).map((i) => ({ address: `gateway-${i}:1`, tls: undefined }));

function gatewaysOf(count: number, random = 0) {
  const moves: string[] = [];
  const gateways: Gateways = new Gateways(endpoints(count), {
    hold: new ProcessHold(),
    backoff: { initialBackoffMs: 1e9, maxBackoffMs: 1e9 },
    onMove: () => moves.push(gateways.address),
    random: () => random,
  });
  return { gateways, moves };
}

test('the first is any of them, and the others follow in the order of the list', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 9 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (n, random) => {
        const { gateways, moves } = gatewaysOf(n, random);
        const first = Math.floor(random * n);
        expect(gateways.address).toBe(`gateway-${first}:1`);
        for (const _ of many(n - 1)) expect(gateways.failed(gateways.use(), 'check')).toBe(true);
        expect(gateways.failed(gateways.use(), 'check')).toBe(false);
        expect(moves).toEqual(many(n).map((i) => `gateway-${(first + 1 + i) % n}:1`));
        gateways.close();
      },
    ),
  );
});

test('however many calls fail at one gateway, the client moves on once', () => {
  const { gateways, moves } = gatewaysOf(3);
  const channel = gateways.use();
  for (const _ of many(100)) expect(gateways.failed(channel, 'check')).toBe(true);
  expect(moves).toEqual(['gateway-1:1']);
  gateways.close();
});

test('once all have failed, the client goes round at the pace of the backoff, until one answers what failed', () => {
  const { gateways, moves } = gatewaysOf(2);
  for (const _ of many(100)) gateways.failed(gateways.use(), 'check');
  expect(moves).toEqual(['gateway-1:1', 'gateway-0:1']);
  gateways.answered(gateways.use(), 'heartbeat');
  expect(gateways.failed(gateways.use(), 'check')).toBe(false);
  gateways.answered(gateways.use(), 'check');
  expect(gateways.failed(gateways.use(), 'check')).toBe(true);
  expect(gateways.address).toBe('gateway-1:1');
  gateways.close();
});

test('a single gateway is never left', () => {
  const { gateways, moves } = gatewaysOf(1);
  const channel = gateways.use();
  for (const _ of many(5)) expect(gateways.failed(channel, 'check')).toBe(false);
  expect(gateways.use()).toBe(channel);
  expect(moves).toEqual([]);
  gateways.close();
});

test('one gateway is in use, and the others have not even a connection', async () => {
  await using fleet = await startFleet(3);
  const { agent, first, gateways } = fleet;
  expect(await checks(agent, 50)).toEqual([]);
  await agent.heartbeat();
  await poll(() => first.streams.size).toBe(1);
  expect(gateways.map(({ proxy }) => proxy?.connections ?? 0).toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
});

test('many clients spread over the gateways', async () => {
  await using fleet = await startFleet(2);
  const { gateways } = fleet;
  const addresses = gateways.map(({ address }) => address);
  for (const _ of many(24)) {
    using reeve = connect({ addresses, apiKey });
    await reeve.register({ agentId: 'bot' });
  }
  for (const gateway of gateways) expect(gateway.count('registerAgent')).toBeGreaterThan(0);
});

test.each([
  ['refuses connections', async (gateway: ScriptedGateway) => void (await gateway.away())],
  ['breaks every call', (gateway: ScriptedGateway) => void (gateway.script = { checkAction: () => 'cut' })],
  ['answers that it is unavailable', (gateway: ScriptedGateway) => void (gateway.script = { checkAction: shutDown })],
])('when a gateway %s, checks go to the next at once, without a retry of the budget', async (_, fail) => {
  await using fleet = await startFleet(2, {}, { pipeline: 'never', retry: { burst: 0, ratio: 0 } });
  const { agent, first, second } = fleet;
  await fail(first);
  expect(await checks(agent, 30)).toEqual([]);
  expect(second.count('checkAction')).toBe(30);
  const before = first.count('checkAction');
  expect(await checks(agent, 5)).toEqual([]);
  expect(first.count('checkAction')).toBe(before);
});

test('a gateway that stops in an orderly way fails no call, of whatever kind, in whichever way it goes', async () => {
  await using fleet = await startFleet(2, {}, { retry: { burst: 0, ratio: 0 }, onUnavailable: 'throw' });
  const { agent, reeve, first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  const enough = new AbortController();
  const load = (call: (nth: number) => Promise<unknown>) =>
    many(10).map(async (worker) => {
      for (let nth = 0; !enough.signal.aborted; nth++) await call(worker * 1e6 + nth);
    });
  const loads = [
    ...load((nth) => agent.check({ tool: 'a' }, { spanId: `s${nth}` })),
    ...load((nth) => agent.complete(`t:${nth}`)),
    ...load(() => agent.heartbeat()),
    ...load(() => agent.checkMany([{ action: { tool: 'a' } }, { action: { tool: 'b' } }])),
    ...load((nth) => reeve.register({ agentId: `bot-${nth % 3}` })),
  ];
  await silentFor(200);
  await first.drain();
  const before = second.received.length;
  await poll(() => second.received.length).toBeGreaterThan(before + 200);
  enough.abort();
  await Promise.all(loads);
  await poll(() => second.streams.size).toBeGreaterThan(0);
  expect(first.proxy?.open).toBe(0);
});

test('gateways that restart one after another fail no call, however soon they follow each other', async () => {
  await using fleet = await startFleet(2, {}, { pipeline: 'never', retry: { burst: 0, ratio: 0 } });
  const { agent, first, second } = fleet;
  // Often enough for each order in which a stream and calls may fail and be answered.
  for (const gateway of Array.from({ length: 60 }, (_, nth) => (nth % 2 === 0 ? first : second))) {
    const comeBack = await gateway.away();
    expect(await checks(agent, 20)).toEqual([]);
    await agent.heartbeat();
    await comeBack();
  }
});

test('what a gateway that shuts down still answers is not asked twice', async () => {
  await using fleet = await startFleet(2, {
    checkAction: async (request) => {
      if (request.spanId === 'slow') await silentFor(500);
      return allowing(request);
    },
  });
  const { agent, first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  const slow = agent.check({ tool: 'a' }, { spanId: 'slow' });
  await poll(() => first.count('checkAction')).toBe(1);
  const drained = first.drain();
  await poll(() => second.streams.size).toBe(1);
  expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  expect(await slow).toMatchObject({ allowed: true, spanId: 'slow' });
  await drained;
  expect(second.messages('checkAction').map(({ spanId }) => spanId)).not.toContain('slow');
});

test.each(['always', 'never'] as const)('no check is lost with a killed gateway (pipeline: %s)', async (pipeline) => {
  await using fleet = await startFleet(2, {}, { pipeline, retry: { burst: 0, ratio: 0 } });
  const { agent, first, second } = fleet;
  first.script = { checkStream: () => 'silence', checkAction: () => 'silence' };
  const asked = checks(agent, 100);
  const method = pipeline === 'always' ? 'checkStream' : 'checkAction';
  await poll(() => first.count(method)).toBe(100);
  await first.away();
  expect(await asked).toEqual([]);
  expect(new Set(second.messages(method).map(({ spanId }) => spanId)).size).toBe(100);
});

test.each(['always', 'never'] as const)('a gateway that falls silent is left (pipeline: %s)', async (pipeline) => {
  await using fleet = await startFleet(2, {}, { pipeline, deadlineMs: 10_000 });
  const { agent, first, second } = fleet;
  expect(await checks(agent, 3)).toEqual([]);
  first.proxy?.silence();
  expect(await checks(agent, 20)).toEqual([]);
  await poll(() => second.streams.size).toBe(1);
});

test('a gateway that accepts connections and says nothing is left', async () => {
  await using gateway = await ScriptedGateway.start();
  await using stopped = await ScriptedGateway.start();
  stopped.proxy?.silence();
  for (const _ of many(4)) {
    using reeve = connect({ addresses: [gateway.address, stopped.address], apiKey, deadlineMs: 10_000 });
    const agent = await reeve.register({ agentId: 'bot' });
    expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  }
  expect(gateway.count('completeAction')).toBe(0);
});

test('a short deadline ends a call, and does not keep the client at a silent gateway', async () => {
  await using fleet = await startFleet(2);
  const { agent, first, second } = fleet;
  first.proxy?.silence();
  expect(await agent.check({ tool: 'a' }, { deadlineMs: 50 })).toMatchObject({ source: 'sdk' });
  await poll(() => second.streams.size).toBe(1);
  expect(await agent.check({ tool: 'a' }, { deadlineMs: 10_000 })).toMatchObject({ allowed: true });
});

test('when none answers, checks are denied, and the budget and the waits hold over all gateways', async () => {
  await using fleet = await startFleet(3, {}, { pipeline: 'never', retry: { burst: 4, ratio: 0 } });
  const { agent, gateways } = fleet;
  for (const gateway of gateways) gateway.script = { checkAction: () => unavailable('overloaded') };
  for (const _ of many(40)) {
    const answer = await agent.check({ tool: 'a' });
    expect(answer).toMatchObject({ decision: 'deny', source: 'sdk', reason: 'gateway unreachable: overloaded' });
  }
  // One each, twice more round the list at first, and four retries.
  const attempts = gateways.map((gateway) => gateway.count('checkAction')).reduce((sum, count) => sum + count, 0);
  expect(attempts).toBeLessThanOrEqual(40 + 2 + 4);
});

test('while no gateway takes checks, the streams of the client are not chased from one to the other', async () => {
  await using fleet = await startFleet(2, {}, { pipeline: 'never' });
  const { agent, gateways } = fleet;
  for (const gateway of gateways) gateway.script = { checkAction: () => unavailable('the store is away') };
  const end = performance.now() + 1000;
  while (performance.now() < end) await agent.check({ tool: 'a' });
  const opened = gateways.map((gateway) => gateway.count('opControlStream')).reduce((sum, count) => sum + count, 0);
  expect(opened).toBeLessThan(60);
  for (const gateway of gateways) gateway.script = {};
  expect(await checks(agent, 20)).toEqual([]);
});

test('when all are gone, calls wait for any of them, at the price of few retries', async () => {
  await using fleet = await startFleet(2, {}, { retry: { burst: 10, ratio: 0 } });
  const { agent, first, second } = fleet;
  await first.away();
  const comeBack = await second.away();
  const asked = checks(agent, 60);
  await silentFor(500);
  await comeBack();
  expect(await asked).toEqual([]);
  expect(await agent.heartbeat()).toMatchObject({ policyVersion: 'v1' });
});

test('control goes on at the next gateway where it was, and events name the address', async () => {
  const events: ConnectionEvent[] = [];
  await using fleet = await startFleet(2, {}, {}, { onConnection: (event) => events.push(event) });
  const { agent, first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  await agent.check({ tool: 'a' }, { traceId: 't', spanId: 's' });
  const pause = first.control('t:s', 'PAUSE');
  await poll(() => first.acks).toEqual(['1 received']);
  second.deliver(pause);
  second.deliver({ ...pause, sequence: 2, signal: 3, controlId: 'ctl_2' });
  await first.drain();
  await poll(() => second.acks).toContain('2 received');
  expect(second.messages<OpControlSubscribeRequest>('opControlStream')).toMatchObject([{ afterSequence: 1 }]);
  expect(second.acks).not.toContain('1 received');
  expect(events).toMatchObject([
    { type: 'connected', address: first.address, again: false },
    { type: 'lost', address: first.address, reason: 'the gateway is shutting down' },
    { type: 'connected', address: second.address, again: true },
  ]);
  expect(JSON.stringify(events)).not.toMatch(/rvk_|rva_/);
});

test('the streams of all agents go where the calls go', async () => {
  const events: ConnectionEvent[] = [];
  await using fleet = await startFleet(2, {}, {}, { onConnection: (event) => events.push(event) });
  const { agent, reeve, first, second } = fleet;
  await reeve.register({ agentId: 'other' });
  await poll(() => first.streams.size).toBe(2);
  first.script = { checkAction: shutDown };
  expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  await poll(() => [first.streams.size, second.streams.size]).toEqual([0, 2]);
  await poll(() => first.proxy?.open).toBe(0);
  expect(events).toEqual([
    { type: 'connected', address: first.address, again: false },
    { type: 'connected', address: second.address, again: true },
  ]);
});

test.each([
  ['as unavailable', (gateway: ScriptedGateway) => gateway.endStreams(shutDown())],
  ['without a word', (gateway: ScriptedGateway) => gateway.streams.forEach((stream) => stream.end())],
])('a gateway that ends its streams %s is left, with its connection', async (_, end) => {
  await using fleet = await startFleet(2);
  const { agent, first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  end(first);
  await poll(() => second.streams.size).toBe(1);
  await poll(() => first.proxy?.open).toBe(0);
  expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  expect(second.count('checkAction')).toBe(1);
});

test('a stream that fails by a fault of the gateway is opened there again', async () => {
  await using fleet = await startFleet(2);
  const { first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  first.endStreams({ code: status.INTERNAL, details: 'oops' });
  await poll(() => first.count('opControlStream')).toBe(2);
  expect(second.proxy?.connections).toBe(0);
});

test('a gateway that has closed the connection is not called again', async () => {
  const opControlStream = () => ({ code: status.UNIMPLEMENTED, details: 'no such method' });
  await using fleet = await startFleet(2, { opControlStream });
  const { agent, first, second } = fleet;
  await poll(() => first.count('opControlStream')).toBe(1);
  first.proxy?.cut();
  await poll(() => first.proxy?.open).toBe(0);
  await silentFor(50);
  expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true });
  expect([first.proxy?.connections, second.count('checkAction')]).toEqual([1, 1]);
});

test('acknowledgements that one gateway did not take go to the next, each once', async () => {
  await using fleet = await startFleet(2, {}, { retry: { burst: 0 } });
  const { agent, first, second } = fleet;
  await poll(() => first.streams.size).toBe(1);
  const run = agent.run(
    { tool: 'a' },
    ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  );
  run.catch(() => {});
  await poll(() => first.count('checkAction')).toBe(1);
  const [check] = first.messages('checkAction');
  first.script = { ackOpControl: shutDown };
  first.control(`${check?.traceId}:${check?.spanId}`, 'TERMINATE');
  await expect(run).rejects.toThrow('was terminated');
  expect(second.acks).toEqual(['1 received', '1 effective']);
});

test('reports that are owed go to whichever gateway returns', async () => {
  await using fleet = await startFleet(2, {}, { deadlineMs: 300 });
  const { agent, first, second } = fleet;
  const result = agent.run(
    { tool: 'a' },
    async () => {
      await first.away();
      comeBack = await second.away();
      return 'done';
    },
    { traceId: 't', spanId: 's' },
  );
  let comeBack = async () => {};
  expect(await result).toBe('done');
  await comeBack();
  const reports = () => second.messages<CompleteActionRequest>('completeAction');
  await poll(reports).toMatchObject([{ opId: 't:s', outcome: 1 }]);
  await agent.heartbeat({ deadlineMs: 10_000 });
  expect(reports()).toHaveLength(1);
});

test('a check whose answer was lost everywhere is called off once', async () => {
  await using fleet = await startFleet(2, {}, { retry: { burst: 0 } });
  const { agent, gateways } = fleet;
  for (const gateway of gateways) gateway.script = { checkAction: () => 'cut' };
  expect(await agent.check({ tool: 'a' }, { traceId: 't', spanId: 's' })).toMatchObject({ source: 'sdk' });
  expect(gateways.map((gateway) => gateway.count('checkAction'))).toEqual([1, 1]);
  await poll(() => agent.heartbeat().catch(() => undefined)).toMatchObject({ policyVersion: 'v1' });
  await agent.heartbeat();
  const reports = gateways.flatMap((gateway) => gateway.messages<CompleteActionRequest>('completeAction'));
  expect(reports).toMatchObject([{ opId: 't:s', outcome: 3, actualCostMicros: 0 }]);
});

test('closing ends calls at a gateway that was left, too', async () => {
  await using fleet = await startFleet(2);
  const { agent, reeve, first, second } = fleet;
  first.script = { completeAction: () => 'silence', checkAction: shutDown };
  const report = agent.complete('t:s');
  report.catch(() => {});
  await poll(() => first.count('completeAction')).toBe(1);
  await agent.check({ tool: 'a' });
  expect(second.count('checkAction')).toBe(1);
  reeve.close();
  await expect(report).rejects.toMatchObject({ code: 'closed' });
});

test('a program that forgets to close ends, whichever gateways it has tried', async () => {
  await using gateway = await ScriptedGateway.start();
  await using stopped = await ScriptedGateway.start();
  stopped.proxy?.silence();
  const program = `
    import { connect } from '@reeve/sdk';
    const addresses = ['${gateway.address}', '${stopped.address}', '127.0.0.1:1'];
    const reeve = connect({ addresses, apiKey: '${apiKey}', deadlineMs: 20_000 });
    const agent = await reeve.register({ agentId: 'bot' });
    console.log((await agent.check({ tool: 'a' })).decision);`;
  const output = await new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['--input-type=module'], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(program);
  });
  expect(output).toBe('allow\n');
});

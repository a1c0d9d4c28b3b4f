import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deregisterAgent, registerAgent, suspendAgent } from '../testkit/commands.ts';
import { agentId, operator, registration } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { ticks, twoGateways } from '../testkit/two-gateways.ts';
import { unregisteredAgent } from './agent.ts';
import { agentBytes, CompactAgents } from './compact-agent.ts';

const id = (name: string) => agentId(`acme/red/${name}`);
const tooMany = (setting: string) => ({ code: 'too_many_agents', message: expect.stringContaining(setting) as string });
const tools = (bytes: number) => Array.from({ length: bytes / 10 }, (_, at) => `tool-${String(at).padStart(5, '0')}`);

/** Registers, and says how that was refused. */
async function refusal(test: TestGovernance, name: string, toolNames: string[] = []): Promise<unknown> {
  const registering = registerAgent(test.gov, operator, registration(id(name), { name: '', toolNames }));
  return test.settle(registering).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the agents of an org', () => {
  test('have a number; one more is refused, one again is not, and one that leaves makes room', async () => {
    const test = await testGovernance({ agentBounds: { agents: 2 } });
    const first = await test.register(id('a'));
    await test.register(id('b'));
    expect(await refusal(test, 'c')).toMatchObject(tooMany('SVC_MAX_AGENTS_PER_ORG'));
    expect(await refusal(test, 'b')).toBeUndefined();
    await test.register(agentId('umbrella/red/a'));
    const { token } = first;
    await test.settle(deregisterAgent(test.gov, { agentId: id('a'), token, reason: '' }));
    expect(await refusal(test, 'c')).toBeUndefined();
  });

  test('count with those that have left as long as operations of these are shown', async () => {
    const test = await testGovernance({ agentBounds: { agents: 1 } });
    const first = await test.register(id('a'));
    await test.check(first, { traceId: 't', spanId: 's' });
    await test.deregister(first);
    expect(await refusal(test, 'b')).toMatchObject(tooMany('until their operations are swept'));
    expect(await refusal(test, 'a')).toBeUndefined();
  });

  test('without an org are those of one org', async () => {
    const test = await testGovernance({ agentBounds: { agents: 1 } });
    const outside = (team: string) => ({ orgId: '', teamId: team, agentId: 'bot' });
    await test.register(outside('red'));
    await expect(test.register(outside('blue'))).rejects.toMatchObject({
      code: 'too_many_agents',
      message: expect.stringContaining('without an org') as string,
    });
  });

  test('have room for their texts; what an agent had is replaced', async () => {
    const test = await testGovernance({ agentBounds: { bytes: 1000 } });
    expect(await refusal(test, 'a', tools(600))).toBeUndefined();
    expect(await refusal(test, 'b', tools(500))).toMatchObject(tooMany('SVC_MAX_AGENT_MIB_PER_ORG'));
    expect(await refusal(test, 'a', tools(900))).toBeUndefined();
    expect(await refusal(test, 'a', tools(100))).toBeUndefined();
    expect(await refusal(test, 'b', tools(500))).toBeUndefined();
    expect(test.gov.directory.useOf('acme')).toEqual({ agents: 2, bytes: 600 });
  });

  test('that have left and are remembered count as agents, and keep neither metadata nor tools', async () => {
    const test = await testGovernance({ agentBounds: { agents: 1 } });
    const registering = registration(id('a'), { name: '', toolNames: tools(500), metadata: { a: 'b' } });
    const { token } = await test.settle(registerAgent(test.gov, operator, registering));
    await test.settle(suspendAgent(test.gov, operator, id('a'), 'odd'));
    await test.settle(deregisterAgent(test.gov, { agentId: id('a'), token, reason: '' }));
    expect(test.gov.directory.useOf('acme')).toEqual({ agents: 1, bytes: 0 });
    expect([...(await test.store.load()).agents]).toMatchObject([{ toolNames: [], metadata: {} }]);
    expect(await refusal(test, 'b')).toMatchObject(tooMany('SVC_MAX_AGENTS_PER_ORG'));
  });

  test('beyond the bound from before are all there after a start, and may be replaced by no more', async () => {
    const before = await testGovernance();
    for (const name of ['a', 'b', 'c']) expect(await refusal(before, name, tools(500))).toBeUndefined();
    const { store } = before;
    const test = await testGovernance({ store, agentBounds: { agents: 1, bytes: 100 } });
    expect(test.gov.directory.useOf('acme')).toEqual({ agents: 3, bytes: 1500 });
    expect(await refusal(test, 'a', tools(500))).toBeUndefined();
    expect(await refusal(test, 'a', tools(510))).toMatchObject(tooMany('SVC_MAX_AGENT_MIB_PER_ORG'));
    expect(await refusal(test, 'd')).toMatchObject(tooMany('SVC_MAX_AGENTS_PER_ORG'));
  });

  test('are counted exactly if two gateways register at once', async () => {
    const { one, two, log, settle, follow } = await twoGateways('name: p\ndefault: allow\n', {
      agentBounds: { agents: 3 },
    });
    const registering = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) =>
      registerAgent((at % 2 === 0 ? one : two).gov, operator, registration(id(name))).then(
        () => 'registered',
        ({ code }: { code: string }) => code,
      ),
    );
    two.turn();
    await ticks();
    log.work();
    await settle();
    const outcomes = await Promise.all(registering);
    expect(outcomes.sort()).toEqual([
      ...Array<string>(3).fill('registered'),
      ...Array<string>(3).fill('too_many_agents'),
    ]);
    await follow();
    for (const { gov } of [one, two]) expect(gov.directory.useOf('acme').agents).toBe(3);
  });
});

test('a record with many texts is the same when it is kept compactly', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  fc.assert(
    fc.property(
      fc.dictionary(text, text, { maxKeys: 20 }),
      fc.array(text, { maxLength: 50 }),
      (metadata, toolNames) => {
        const record = { ...unregisteredAgent(id('a')), metadata, toolNames };
        const kept = new CompactAgents().of(record);
        expect({ ...kept }).toEqual(record);
        expect(JSON.stringify(kept.metadata)).toBe(JSON.stringify(metadata));
        expect(agentBytes(kept)).toBe(agentBytes(record));
      },
    ),
  );
});

test('what agents have in common is kept once', () => {
  const compact = new CompactAgents();
  const kept = [1, 2].map((nth) =>
    compact.of({
      ...unregisteredAgent(id(`agent-${nth}`)),
      framework: ['a frame', 'work'].join(''),
      metadata: {},
      toolNames: [],
      registeredWith: [['a cre', 'dential'].join('')],
    }),
  );
  const [one, other] = kept;
  expect(one).not.toBe(other);
  for (const member of ['metadata', 'toolNames', 'registeredWith'] as const)
    expect(one?.[member]).toBe(other?.[member]);
});

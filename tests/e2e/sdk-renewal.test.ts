import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '@reeve/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

/* The clock of the gateway is behind by nearly two thirds of a token's life. So a client takes a new token for one that
   has come that far, and renews it soon. */

const lifeSecs = 3600;
const behindMs = -2_398_500;

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-clock-'));
  setClock(behindMs);
  const env = {
    NODE_OPTIONS: `--import=${resolve('tests/harness/moving-clock.mjs')}`,
    TEST_CLOCK_FILE: join(folder, 'clock'),
  };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
beforeEach(() => setClock(behindMs));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function setClock(shiftMs: number): void {
  writeFileSync(join(folder, 'clock'), String(shiftMs));
}

/** Again, until the gateway has read the clock of this test. */
async function register(agentId: string): Promise<string> {
  return eventually(async () => {
    const { token, expiresAt } = await gateway.register({ agentId }, { tokenTtlSecs: lifeSecs });
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(behindMs + lifeSecs * 1000);
    return token;
  });
}

const renewals = () => gateway.audit().filter(({ event_type }) => event_type === 'AgentTokenRenewed').length;
const renewalsOf = (agentId: string) =>
  gateway
    .audit()
    .filter(({ event_type, lineage }) => event_type === 'AgentTokenRenewed' && lineage?.agent_id === agentId).length;
const search = { type: 'tool_call', tool: 'search' } as const;

test('the SDK renews at two thirds of the life, and no call is lost: not while it does, nor once the old token is dead', async () => {
  using reeve = connect({ address: gateway.grpc });
  const revoked = { told: false };
  const agent = await reeve.agent({ token: await register('renewing'), onRevoked: () => (revoked.told = true) });
  const refused: string[] = [];
  const state = { asking: true };
  const asking = (async () => {
    while (state.asking) {
      const answer = await agent.check({ type: 'tool_call', tool: 'search' });
      if (answer.allowed) await agent.complete(answer.opId);
      else refused.push(answer.reason);
    }
  })();
  const held = await agent.check({ type: 'tool_call', tool: 'search' });
  await eventually(() => expect(renewals()).toBe(1));
  setClock(behindMs + 61_000);
  await agent.complete(held.opId);
  await eventually(async () => expect(await agent.heartbeat()).toMatchObject({ suspended: false }));
  state.asking = false;
  await asking;
  expect(refused).toEqual([]);
  expect([agent.revoked, revoked.told]).toEqual([false, false]);
  // The stream has the new token, too: a control arrives.
  const { opId } = await agent.check({ type: 'tool_call', tool: 'search' });
  const stopped = await gateway.api.post(`/api/v1/ops/${opId}/terminate`, bootstrapKey, {});
  expect(stopped.status).toBe(202);
  await eventually(() => expect(agent.operation(opId)?.state ?? 'terminated').toBe('terminated'));
  await agent.close();
});

test('a token that others hold, too, is not renewed', async () => {
  const before = renewals();
  using reeve = connect({ address: gateway.grpc });
  const token = await register('shared');
  const agent = await reeve.agent({ token, shared: true });
  const alone = await reeve.agent({ token: await register('alone') });
  await eventually(() => expect(renewals()).toBe(before + 1));
  expect(await agent.check({ type: 'tool_call', tool: 'search' })).toMatchObject({ allowed: true });
  expect(gateway.audit().findLast(({ event_type }) => event_type === 'AgentTokenRenewed')?.lineage?.agent_id).toBe(
    'alone',
  );
  await Promise.all([agent.close(), alone.close()]);
});

test('agents of one client that act with one token have it renewed once, and all of them go on', async () => {
  using reeve = connect({ address: gateway.grpc });
  const token = await register('twins');
  const told: string[] = [];
  const acting = (name: string) => reeve.agent({ token, onRevoked: () => told.push(name) });
  const agents = await Promise.all(['first', 'second', 'third'].map(acting));
  const held = await Promise.all(agents.map((agent) => agent.check(search)));
  await eventually(() => expect(renewalsOf('twins')).toBe(1));
  // One that comes with the old token acts with the new one, too, and renews nothing.
  agents.push(await acting('late'));
  setClock(behindMs + 61_000);
  using stranger = connect({ address: gateway.grpc });
  await eventually(() => expect(stranger.identify(token)).rejects.toThrow('expired'));
  for (const [index, { opId }] of held.entries()) await agents[index]?.complete(opId);
  for (const agent of agents) {
    expect(await agent.heartbeat()).toMatchObject({ suspended: false });
    expect(await agent.check(search)).toMatchObject({ allowed: true });
  }
  agents.push(await acting('latest'));
  expect(await agents.at(-1)?.check(search)).toMatchObject({ allowed: true });
  expect(renewalsOf('twins')).toBe(1);
  expect(told).toEqual([]);
  // Whoever leaves takes nothing from the others.
  await agents[0]?.close();
  expect(await agents[1]?.check(search)).toMatchObject({ allowed: true });
  await Promise.all(agents.map((agent) => agent.close()));
});

test('a token that somebody else renews is followed: when it is due, and when the gateway refuses the old one', async () => {
  using reeve = connect({ address: gateway.grpc });
  using keeper = connect({ address: gateway.grpc });
  const token = await register('followed');
  const file = { token };
  const needs = new Set<string>();
  const told: string[] = [];
  const agent = await reeve.agent({
    token,
    shared: true,
    nextToken: async (_, need) => {
      needs.add(need);
      return file.token;
    },
    onRevoked: () => told.push('revoked'),
  });
  await eventually(() => expect([...needs]).toEqual(['due']));
  const held = await agent.check(search);
  file.token = (await keeper.renewToken(token)).token;
  expect(file.token).not.toBe(token);
  setClock(behindMs + 61_000);
  await eventually(() => expect(keeper.identify(token)).rejects.toThrow('expired'));
  await agent.complete(held.opId);
  const [first, ...others] = await agent.checkMany([{ action: search }, { action: search }]);
  expect([first, ...others].map((answer) => answer?.allowed)).toEqual([true, true]);
  expect(await agent.heartbeat()).toMatchObject({ suspended: false });
  // The stream goes on with the new token, too.
  const { opId } = await agent.check(search);
  await gateway.api.post(`/api/v1/ops/${opId}/terminate`, bootstrapKey, {});
  await eventually(() => expect(agent.operation(opId)?.state ?? 'terminated').toBe('terminated'));
  expect(told).toEqual([]);
  await agent.close();
});

test('without another token, an end is an end: the check says so, and the agent is told', async () => {
  using reeve = connect({ address: gateway.grpc });
  using keeper = connect({ address: gateway.grpc });
  const token = await register('ended');
  const told: string[] = [];
  const nextToken = async () => undefined;
  const agent = await reeve.agent({ token, shared: true, nextToken, onRevoked: () => told.push('revoked') });
  setClock(behindMs + lifeSecs * 1000);
  await eventually(() => expect(keeper.identify(token)).rejects.toThrow('expired'));
  expect(await agent.check(search)).toMatchObject({ allowed: false, reason: 'token has expired' });
  await eventually(() => expect(told).toEqual(['revoked']));
  await agent.close();
});

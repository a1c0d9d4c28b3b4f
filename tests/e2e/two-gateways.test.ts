import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore } from '../harness/stores.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/** What every gateway of the installation is started with. */
async function together() {
  return { policies: { 'all.yaml': allowAll }, env: { SVC_NATS_URL: (await sharedNats()).url() } };
}

let store: TestStore;
let one: TestGateway;
let two: TestGateway;
beforeAll(async () => {
  store = await postgresStore.open();
  one = await store.start(await together());
  two = await store.start(await together());
});
afterAll(() => store[Symbol.asyncDispose]());

async function status(gateway: TestGateway, bearer: string): Promise<number> {
  return (await gateway.api.get('/api/v1/agents', bearer)).status;
}

test('an agent that is registered at one checks at the other, in one lineage with those there', async () => {
  const parent = await one.register({ agentId: 'parent' });
  expect(await two.check(parent)).toMatchObject({ decision: 1 });
  const child = await two.register({ agentId: 'child' }, { parentAgentId: parent.id });
  expect(await one.check(child)).toMatchObject({ decision: 1 });
  expect(one.audit().at(-1)?.lineage).toMatchObject({ agent_id: 'child', parent_agent_id: 'parent', depth: 1 });
});

test('a token that is replaced at one stops at the other, and the new one works there', async () => {
  const old = await one.register({ agentId: 'renewed' });
  expect(await two.check(old)).toMatchObject({ decision: 1 });
  const renewed = await one.register({ agentId: 'renewed' });
  expect(await two.check(old)).toMatchObject({ decision: 2, policyRule: 'identity' });
  expect(await two.check(renewed)).toMatchObject({ decision: 1 });
});

test('a token belongs to one agent, wherever it was registered', async () => {
  const credentialToken = 'x'.repeat(40);
  const first = await one.register({ agentId: 'with-token' }, { credentialToken });
  expect(await two.check(first)).toMatchObject({ decision: 1 });
  await expect(two.register({ agentId: 'impostor' }, { credentialToken })).rejects.toThrow('ALREADY_EXISTS');
});

test('a suspension at one denies at the other and pauses what runs there; to resume lifts both', async () => {
  const agent = await one.register({ agentId: 'rogue' });
  expect(await two.check(agent, { traceId: 'there', spanId: 's' })).toMatchObject({ decision: 1 });
  const state = async () => (await two.api.get<{ state: string }>('/api/v1/ops/there:s', bootstrapKey)).body.state;
  await one.api.post('/api/v1/agents/acme/core/rogue/suspend', bootstrapKey, { reason: 'odd' });
  expect(await two.check(agent)).toMatchObject({ reason: 'agent is suspended' });
  expect(await state()).toBe('paused');
  await one.api.post('/api/v1/agents/acme/core/rogue/resume', bootstrapKey, {});
  expect(await state()).toBe('running');
  expect(await two.check(agent)).toMatchObject({ decision: 1 });
});

test('an agent that leaves at one is unknown at the other, and what it ran there has ended', async () => {
  const agent = await one.register({ agentId: 'leaving' });
  expect(await two.check(agent, { traceId: 'left', spanId: 's' })).toMatchObject({ decision: 1 });
  await one.deregister(agent);
  expect(await two.check(agent)).toMatchObject({ policyRule: 'identity' });
  const ended = two.audit().filter((entry) => entry.op_id === 'left:s' && entry.event_type === 'OpStateChanged');
  expect(ended).toMatchObject([{ reason: 'agent deregistered', payload: { to: 'terminated' } }]);
});

describe('credentials', () => {
  test('a key that is made at one works at the other, and so does a token from either', async () => {
    const { key } = await makeKey(one);
    expect(await status(two, key)).toBe(200);
    const tokens = [await tokenOf(one, key), await tokenOf(two, key)];
    for (const token of tokens) expect([await status(one, token), await status(two, token)]).toEqual([200, 200]);
  });

  test('a key that is revoked at one stops at the other, and every token of it', async () => {
    const { key, id } = await makeKey(one);
    expect(await status(two, key)).toBe(200);
    const token = await tokenOf(two, key);
    await one.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
    expect([await status(two, key), await status(two, token)]).toEqual([401, 401]);
    const { body } = await two.api.get<{ items: { id: string; revoked_at: string | null }[] }>(
      '/api/v1/iam/api-keys?per_page=1000',
      bootstrapKey,
    );
    expect(body.items.find((item) => item.id === id)?.revoked_at).not.toBeNull();
  });

  test('a signing key that is made at one verifies at the other and is published there', async () => {
    await one.api.post('/api/v1/iam/signing-keys/rotate', bootstrapKey);
    const token = await tokenOf(one, (await makeKey(one)).key);
    expect(await status(two, token)).toBe(200);
    const published = async (gateway: TestGateway) =>
      (await gateway.api.get<{ keys: { kid: string }[] }>('/.well-known/jwks.json')).body.keys
        .map(({ kid }) => kid)
        .toSorted();
    expect(await published(two)).toEqual(await published(one));
  });
});

test('under load at both there is one chain, whole, with every answered decision in it once', async () => {
  const agents = [await one.register({ agentId: 'busy-one' }), await two.register({ agentId: 'busy-two' })];
  const rounds = 12;
  const load = async (gateway: TestGateway, agent: Registered, name: string) => {
    for (let round = 0; round < rounds; round++) {
      const requests = Array.from({ length: 40 }, (_, index) =>
        checkRequest(agent, { traceId: name, spanId: `${round}-${index}` }),
      );
      const responses = await gateway.batch(requests);
      for (const { decision } of responses) expect(decision).toBe(1);
      await Promise.all(
        Array.from({ length: 8 }, (_, index) => gateway.check(agent, { traceId: name, spanId: `u${round}-${index}` })),
      );
    }
  };
  await Promise.all([one, two].map((gateway, index) => load(gateway, agents[index] as Registered, `load-${index}`)));
  expect(verifyChain(one.folder)).toMatchObject({ accepted: true });
  const decided = one.audit().filter((entry) => entry.trace_id?.startsWith('load-') === true);
  expect(decided).toHaveLength(2 * rounds * 48);
  expect(new Set(decided.map((entry) => entry.op_id)).size).toBe(decided.length);
  const turns = decided.map((entry) => entry.trace_id);
  expect(turns.indexOf('load-1')).toBeLessThan(turns.lastIndexOf('load-0'));
  expect(turns.indexOf('load-0')).toBeLessThan(turns.lastIndexOf('load-1'));
}, 120_000);

test('an operation is known at both, and either completes it, also over a kill of the one that decided it', async () => {
  const agent = await one.register({ agentId: 'restless' });
  await one.check(agent, { traceId: 'at-one', spanId: 's' });
  await two.check(agent, { traceId: 'at-two', spanId: 's' });
  expect(await two.complete(agent, 'at-one:s')).toMatchObject({ state: 'completing' });
  await two.kill('SIGKILL');
  expect(await one.check(agent, { traceId: 'at-two', spanId: 's' })).toMatchObject({ decision: 1, opState: 'running' });
  expect(await one.complete(agent, 'at-two:s')).toMatchObject({ state: 'completing' });
  two = await store.start(await together());
  await expect(two.complete(agent, 'at-two:s')).rejects.toThrow('FAILED_PRECONDITION');
  expect(verifyChain(two.folder)).toMatchObject({ accepted: true });
});

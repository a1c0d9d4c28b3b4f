import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '@reeve/sdk';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { postgresStore } from '../harness/stores.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const unauthenticated = { code: 16 };
/** Tokens never end here, and nobody vouches for users. */
const nothingMore = { expiresAt: '', tokenTtlSecs: 0, subjectIssuers: [] };

test('a token that the gateway issued is enough to find its agent', async () => {
  const bot = await gateway.register({ agentId: 'bot' });
  expect(bot.token).toMatch(/^rva_/);
  const entries = gateway.audit().length;
  expect(await gateway.identify(bot.token)).toEqual({ agentId: bot.id, suspended: false, ...nothingMore });
  expect(gateway.audit()).toHaveLength(entries);

  using reeve = connect({ address: gateway.grpc });
  const agent = await reeve.agent({ token: bot.token });
  expect(agent.id).toEqual(bot.id);
  expect(await agent.check({ tool: 'search' })).toMatchObject({ decision: 'allow' });
});

test("a token that is nobody's, or no longer anybody's, is refused", async () => {
  const first = await gateway.register({ agentId: 'twice' });
  const second = await gateway.register({ agentId: 'twice' });
  for (const token of ['', 'x', `rva_${'A'.repeat(43)}`, first.token, `${second.token} `, bootstrapKey]) {
    await expect(gateway.identify(token)).rejects.toMatchObject(unauthenticated);
  }
  await gateway.deregister(second);
  await expect(gateway.identify(second.token)).rejects.toMatchObject(unauthenticated);
  await expect(gateway.identify('x'.repeat(16 * 1024 + 1))).rejects.toMatchObject({ code: 3 });
});

test('a suspended agent is found as one, also after a restart', async () => {
  await using own = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const bot = await own.register({ orgId: '', teamId: '', agentId: 'held' });
  await own.api.post('/api/v1/agents/-/-/held/suspend', bootstrapKey, { reason: 'odd' });
  expect(await own.identify(bot.token)).toEqual({ agentId: bot.id, suspended: true, ...nothingMore });
  await using again = await own.restart('SIGKILL');
  expect(await again.identify(bot.token)).toEqual({ agentId: bot.id, suspended: true, ...nothingMore });
});

test('of several gateways, each knows at once the tokens that another has issued', async () => {
  await using store = await postgresStore.open();
  const options = { policies: { 'all.yaml': allowAll }, env: { SVC_NATS_URL: (await sharedNats()).url() } };
  const one = await store.start(options);
  const two = await store.start(options);
  for (let round = 0; round < 10; round++) {
    const bot = await one.register({ agentId: `bot-${round}` });
    expect(await two.identify(bot.token)).toEqual({ agentId: bot.id, suspended: false, ...nothingMore });
  }
});

import { expect, test } from 'vitest';
import { ActionType } from '@reeve/contract';
import { connect } from '@reeve/sdk';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { durableStores, postgresStore } from '../harness/stores.ts';

const policy = `
name: money
default: allow
budget: { agent_daily_limit_usd: 10 }
pricing:
  sonnet-*: { input_per_mtok_usd: 3, output_per_mtok_usd: 15, cached_input_per_mtok_usd: 0.3 }
`;
const policies = { 'money.yaml': policy };

function call(gateway: TestGateway, agent: Registered, model: string, promptTokens: number, maxOutputTokens: number) {
  const value = { model, promptTokens, maxOutputTokens };
  return gateway.check(agent, {
    actionType: ActionType.LLM_CALL,
    context: { action: { $case: 'llmCall', value } },
  });
}

async function agentBudget(gateway: TestGateway): Promise<unknown> {
  const path = '/api/v1/budgets?org_id=acme&team_id=core&agent_id=bot';
  const { body } = await gateway.api.get<{ items: { tier: string; period: string }[] }>(path, bootstrapKey);
  return body.items.find(({ tier, period }) => tier === 'agent' && period === 'day');
}

async function opOf(gateway: TestGateway, opId: string) {
  return (await gateway.api.get(`/api/v1/ops/${encodeURIComponent(opId)}`, bootstrapKey)).body;
}

test.each(durableStores)('on $name tokens are priced to the micro-dollar, and survive a kill', async (kind) => {
  await using store = await kind.open();
  const gateway = await store.start({ policies });
  const bot = await gateway.register({ agentId: 'bot' });
  const { opId } = await call(gateway, bot, 'sonnet-5', 1000, 200);
  expect(await agentBudget(gateway)).toMatchObject({ spent_usd: '0.00', reserved_usd: '0.006' });
  await gateway.complete(bot, opId, { outcome: 1, inputTokens: 1001, outputTokens: 77, cachedInputTokens: 900 });
  // 101 * 3 + 900 * 0.3 + 77 * 15 = 1,728
  const settled = { spent_usd: '0.001728', reserved_usd: '0.00' };
  const shown = { cost_micros: 1728, input_tokens: 1001, output_tokens: 77, cached_input_tokens: 900 };
  expect(await agentBudget(gateway)).toMatchObject(settled);
  expect(await opOf(gateway, opId)).toMatchObject(shown);
  const { body } = await gateway.api.get('/api/v1/logs?event_type=OpStateChanged', bootstrapKey);
  expect(body).toMatchObject({ items: [{ payload: shown }] });

  await gateway.kill('SIGKILL');
  const again = await store.start({ policies });
  expect(await agentBudget(again)).toMatchObject(settled);
  expect(await opOf(again, opId)).toMatchObject(shown);
});

test('gateways on one database come to the same sums', async () => {
  await using store = await postgresStore.open();
  const options = { policies, env: { SVC_NATS_URL: (await sharedNats()).url() } };
  const [one, two] = [await store.start(options), await store.start(options)];
  const bot = await one.register({ agentId: 'bot' });
  for (let nth = 0; nth < 5; nth++) {
    const { opId } = await call(one, bot, 'sonnet-5', 1000, 200);
    await two.complete(bot, opId, { outcome: 1, inputTokens: 10, outputTokens: nth });
    expect(await opOf(one, opId)).toMatchObject({ input_tokens: 10, output_tokens: nth, cached_input_tokens: null });
  }
  // 5 * 30 + (0 + 1 + 2 + 3 + 4) * 15 = 300
  for (const gateway of [one, two]) {
    expect(await agentBudget(gateway)).toMatchObject({ spent_usd: '0.0003', reserved_usd: '0.00' });
  }
});

test('the SDK tells what a call used; a model without a price costs its estimate', async () => {
  await using gateway = await TestGateway.start({ policies });
  using reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
  const priced = { type: 'llm_call', model: 'sonnet-5', promptTokens: 100, maxOutputTokens: 100 } as const;
  await agent.run(priced, (op) => op.used({ inputTokens: 100, outputTokens: 10 }));
  const unpriced = { type: 'llm_call', model: 'other', promptTokens: 100 } as const;
  await agent.run(unpriced, (op) => op.used({ inputTokens: 100, outputTokens: 10 }), { estimatedCostMicros: 50 });
  expect(await agentBudget(gateway)).toMatchObject({ spent_usd: '0.0005' });
});

test('tokens that cannot be are refused, and the operation goes on', async () => {
  await using gateway = await TestGateway.start({ policies, env: { SVC_MAX_ACTION_COST_USD: '1' } });
  const bot = await gateway.register({ agentId: 'bot' });
  const { opId } = await call(gateway, bot, 'sonnet-5', 1000, 200);
  for (const tokens of [
    { inputTokens: 10, cachedInputTokens: 11 },
    { outputTokens: 2 ** 31 },
    { inputTokens: 1_000_000 },
  ]) {
    await expect(gateway.complete(bot, opId, { outcome: 1, ...tokens })).rejects.toMatchObject({ code: 3 });
  }
  expect(await opOf(gateway, opId)).toMatchObject({ state: 'running', cost_micros: 6000, input_tokens: null });
});

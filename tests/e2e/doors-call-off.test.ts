import { afterAll, beforeAll, expect, test } from 'vitest';
import { CompleteActionRequest_Outcome as Outcome } from '@reeve/contract';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [ask] }]\n';

let gateway: TestGateway;
let bot: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const cancel = (opId: string) => gateway.complete(bot, opId, { outcome: Outcome.CANCELLED, detail: 'gave up' });
const ask = (traceId: string) =>
  gateway.check(bot, { context: toolCall('ask'), traceId, spanId: 's', estimatedCostMicros: 5000 });

test('an action that waits is called off with its approval, and costs nothing', async () => {
  const { approvalId } = await ask('off');
  expect(await cancel('off:s')).toMatchObject({ state: 'terminated' });
  const { body } = await gateway.api.get(`/api/v1/approvals/${approvalId}`, bootstrapKey);
  expect(body).toMatchObject({ state: 'cancelled' });
  const late = await gateway.api.post(`/api/v1/approvals/${approvalId}/approve`, bootstrapKey, { reason: '' });
  expect(late.status).toBe(409);
  const path = '/api/v1/budgets?org_id=acme&team_id=core&agent_id=bot';
  const budgets = await gateway.api.get<{ items: object[] }>(path, bootstrapKey);
  expect(budgets.body.items.length).toBeGreaterThan(0);
  for (const row of budgets.body.items) expect(row).toMatchObject({ reserved_usd: '0.00', spent_usd: '0.00' });
  expect(await ask('off')).toMatchObject({ decision: 2, reason: 'called off by its agent' });
});

test('once is enough: the second time nothing changes, and other outcomes never end what waits', async () => {
  await ask('again');
  for (const outcome of [Outcome.SUCCEEDED, Outcome.FAILED, Outcome.OUTCOME_UNSPECIFIED]) {
    await expect(gateway.complete(bot, 'again:s', { outcome })).rejects.toMatchObject({ code: 9 });
  }
  await cancel('again:s');
  const entries = gateway.audit().length;
  await expect(cancel('again:s')).rejects.toMatchObject({ code: 9 });
  expect(gateway.audit()).toHaveLength(entries);
});

import { ActionType, Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Budgets = RouteOutput<Routes['listBudgets']>;
type Simulation = RouteOutput<Routes['simulatePolicy']>;
type Logs = RouteOutput<Routes['listLogs']>;

const policy = `
name: p
default: allow
budget: { agent_daily_limit_usd: 1 }
pricing:
  gpt-*: { input_per_mtok_usd: 10, output_per_mtok_usd: 30 }
`;

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  agent = await gateway.register({ orgId: 'acme', agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

function call(estimatedCostMicros: number | undefined, model = 'gpt-5', members: object = {}) {
  return gateway.check(agent, {
    actionType: ActionType.LLM_CALL,
    context: { action: { $case: 'llmCall', value: { model, promptTokens: 30_000, maxOutputTokens: 0 } } },
    estimatedCostMicros,
    ...members,
  });
}

async function reserved(): Promise<string | undefined> {
  const { body } = await gateway.api.get<Budgets>(
    '/api/v1/budgets?org_id=acme&team_id=core&agent_id=bot',
    bootstrapKey,
  );
  return body.items.find(({ tier, period }) => tier === 'agent' && period === 'day')?.reserved_usd;
}

test('an estimate below the price that policy knows is held back as the price', async () => {
  expect(await call(0)).toMatchObject({ decision: Decision.ALLOW });
  expect(await reserved()).toBe('0.30');
  expect(await call(400_000)).toMatchObject({ decision: Decision.ALLOW });
  expect(await reserved()).toBe('0.70');
  expect(await call(1, 'llama')).toMatchObject({ decision: Decision.ALLOW });
  expect(await reserved()).toBe('0.700001');
  const refused = await call(0);
  expect(refused).toMatchObject({ decision: Decision.DENY, policyRule: 'budget/agent.day' });
  const body = {
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'llm_call',
    context: { model: 'gpt-5', prompt_tokens: 30_000 },
    estimated_cost_micros: 0,
  };
  const simulated = await gateway.api.post<Simulation>('/api/v1/policies/simulate', bootstrapKey, body);
  expect(simulated.body).toMatchObject({ decision: 'deny', policy_rule: 'budget/agent.day', cost_micros: 300_000 });
});

test('on whose behalf an agent acts is recorded as what it claims', async () => {
  const callerAgentId = { orgId: 'umbrella', teamId: '', agentId: 'boss' };
  await call(0, 'llama', { traceId: 'claims', spanId: 's', callerAgentId });
  const { body } = await gateway.api.get<Logs>('/api/v1/logs?op_id=claims:s', bootstrapKey);
  expect(body.items[0]?.payload).toMatchObject({ claimed_caller: 'umbrella//boss' });
  expect(body.items[0]?.payload).not.toHaveProperty('caller');
});

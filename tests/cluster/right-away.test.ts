import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

// Nothing here waits or tries again: what one gateway has answered, the other knows in the very next call.

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair[Symbol.asyncDispose]());

async function statusOf(gateway: TestGateway, bearer: string): Promise<number> {
  return (await gateway.api.get('/api/v1/agents', bearer)).status;
}

test('a key that is made at one works at the other, and stops there when it is revoked', async () => {
  const { one, two } = pair;
  for (let round = 0; round < 10; round++) {
    const { key, id } = await makeKey(one);
    expect(await statusOf(two, key)).toBe(200);
    expect((await one.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey)).status).toBe(200);
    expect(await statusOf(two, key)).toBe(401);
  }
});

test('a policy that is put at one holds at the other in the next check', async () => {
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'ruled' });
  const policies = new Policies(one);
  for (let round = 0; round < 5; round++) {
    const tool = `tool-${round}`;
    expect(await two.check(agent, { context: toolCall(tool) })).toMatchObject({ decision: 1 });
    await policies.put('extra', `name: extra\nrules:\n  - { name: no, effect: deny, tools: [${tool}] }\n`);
    const answer = await two.check(agent, { context: toolCall(tool) });
    expect(answer).toMatchObject({ decision: 2, policyRule: 'extra/no' });
  }
  expect((await policies.delete('extra')).status).toBe(204);
  expect(await two.check(agent, { context: toolCall('tool-4') })).toMatchObject({ decision: 1 });
});

test('an agent that is registered, suspended, resumed and gone at one is so at the other', async () => {
  const { one, two } = pair;
  for (let round = 0; round < 5; round++) {
    const agent = await one.register({ agentId: `agent-${round}` });
    const path = `/api/v1/agents/acme/core/agent-${round}`;
    expect(await two.check(agent)).toMatchObject({ decision: 1 });
    await one.api.post(`${path}/suspend`, bootstrapKey, { reason: 'odd' });
    expect(await two.check(agent)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
    await one.api.post(`${path}/resume`, bootstrapKey, {});
    expect(await two.check(agent)).toMatchObject({ decision: 1 });
    await one.deregister(agent);
    expect(await two.check(agent)).toMatchObject({ decision: 2, policyRule: 'identity' });
  }
});

import { Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

type Rates = RouteOutput<Routes['listRates']>;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
  const source = `scope: org:acme\nrates: [{ per: org, window_secs: 3600, max: 20 }]\n`;
  const put = await pair.one.api.send('PUT', '/api/v1/policies/rates', { bearer: bootstrapKey, json: { source } });
  expect(put.status).toBe(200);
});
afterAll(() => pair[Symbol.asyncDispose]());

test('two gateways count together, never more than the maximum, and one that is killed takes nothing along', async () => {
  const { one, two } = pair;
  const agents = await Promise.all(['a', 'b', 'c'].map((agentId) => one.register({ agentId })));
  const ask = (at: number) => {
    const agent = agents[at % agents.length];
    if (agent === undefined) throw new Error('there is no agent');
    return (at % 2 === 0 ? one : two).check(agent, { context: toolCall('x') });
  };
  const answers = await Promise.all(Array.from({ length: 15 }, (_, at) => ask(at)));
  expect(answers.every(({ decision }) => decision === Decision.ALLOW)).toBe(true);
  const more = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(at)));
  expect(more.filter(({ decision }) => decision === Decision.ALLOW)).toHaveLength(5);
  expect(more.find(({ decision }) => decision === Decision.DENY)?.policyRule).toBe('rates/rate-0');
  for (const { api } of [one, two]) {
    const { body } = await api.get<Rates>('/api/v1/rates?tier=org', bootstrapKey);
    expect(body.items).toMatchObject([{ rate: 'rates/rate-0', org_id: 'acme', count: 20, max: 20 }]);
  }
  await one.kill();
  const [agent] = agents;
  if (agent === undefined) throw new Error('there is no agent');
  expect((await two.check(agent, { context: toolCall('x') })).decision).toBe(Decision.DENY);
}, 240_000);

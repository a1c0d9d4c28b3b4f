import { Decision } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { TestGateway as Gateway, toolCall } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

const policy = `
name: p
default: allow
rules:
  - { name: few, effect: deny, tools: [x], when: run.checks >= 5 }
  - { name: cheap, effect: deny, tools: [pay], when: run.spent_usd + action.cost_usd > 1.0 }
`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({}, { 'p.yaml': policy });
});
afterAll(() => pair[Symbol.asyncDispose]());

test('concurrent checks of a run at two gateways never pass what a condition lets it have, and a third one knows', async () => {
  const { one, two, options } = pair;
  const agents = await Promise.all(['a', 'b', 'c', 'd'].map((agentId) => one.register({ agentId })));
  const ask = (gateway: TestGateway, at: number, members: object) => {
    const agent = agents[at % agents.length];
    if (agent === undefined) throw new Error('there is no agent');
    return gateway.check(agent, members);
  };
  const allowedOf = async (members: object) => {
    const asking = Array.from({ length: 16 }, (_, at) => ask(at % 2 === 0 ? one : two, at >> 1, members));
    return (await Promise.all(asking)).filter(({ decision }) => decision === Decision.ALLOW).length;
  };
  for (let round = 0; round < 10; round++) {
    expect(await allowedOf({ context: toolCall('x'), runId: `checks-${round}` })).toBe(5);
    const pay = { context: toolCall('pay'), runId: `spend-${round}`, estimatedCostMicros: 300_000 };
    expect(await allowedOf(pay)).toBe(3);
  }
  await one.kill();
  await using third = await Gateway.start(options);
  for (const gateway of [two, third]) {
    const again = await ask(gateway, 0, { context: toolCall('x'), runId: 'checks-3' });
    expect(again).toMatchObject({ decision: Decision.DENY, policyRule: 'p/few' });
  }
}, 240_000);

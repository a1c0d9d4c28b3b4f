import { CheckResultRequest, CheckResultResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

const policy = `
name: p
default: allow
rules:
  - { name: pii, on: result, effect: mask, tools: [read], when: args.kind == "mail", mask: { detect: [email] } }
`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({}, { 'p.yaml': policy });
});
afterAll(() => pair[Symbol.asyncDispose]());

async function judge(gateway: TestGateway, agent: Registered, opId: string): Promise<string | undefined> {
  const { resultJson } = await gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
    agentId: agent.id,
    credentialToken: agent.token,
    opId,
    resultJson: Buffer.from('"ann@example.com"'),
    isError: false,
  });
  return resultJson === undefined ? undefined : Buffer.from(resultJson).toString();
}

async function notJudged(gateway: TestGateway, opId: string): Promise<unknown> {
  const path = `/api/v1/logs?op_id=${opId}&event_type=OpStateChanged`;
  const { body } = await gateway.api.get<{ items: { payload: { result_not_judged?: boolean } }[] }>(path, bootstrapKey);
  return body.items[0]?.payload.result_not_judged;
}

test('a result is judged at another gateway than its call, right after it, and also by one that has just started', async () => {
  const { one, two, options } = pair;
  const agent = await one.register({ agentId: 'reader' });
  for (let round = 0; round < 20; round++) {
    const [judged, forgotten] = await Promise.all(
      [0, 1].map(() => one.check(agent, { context: toolCall('read', { kind: 'mail' }) })),
    );
    expect(judged?.judgeResult).toBe(true);
    expect(await judge(two, agent, judged?.opId ?? '')).toBe('"[masked]"');
    await one.complete(agent, judged?.opId ?? '', { outcome: 1 });
    await two.complete(agent, forgotten?.opId ?? '', { outcome: 1 });
    expect(await notJudged(two, judged?.opId ?? '')).toBeUndefined();
    expect(await notJudged(one, forgotten?.opId ?? '')).toBe(true);
  }
  const { opId } = await two.check(agent, { context: toolCall('read', { kind: 'mail' }) });
  await one.kill();
  await using third = await TestGateway.start(options);
  expect(await judge(third, agent, opId)).toBe('"[masked]"');
});

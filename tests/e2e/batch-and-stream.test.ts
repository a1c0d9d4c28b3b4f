import { once } from 'node:events';
import type { CheckActionResponse as CheckResponse } from '@reeve/contract';
import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = 'name: mix\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: ["no_*"]}\n';

let gateway: TestGateway;
let agent: Registered;
let other: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'mix.yaml': policy } });
  agent = await gateway.register({ agentId: 'a' });
  other = await gateway.register({ orgId: 'globex', agentId: 'b' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('a batch is answered in order, each judged on its own', async () => {
  const responses = await gateway.batch([
    checkRequest(agent, { traceId: 'b', spanId: '1' }),
    checkRequest(agent, { traceId: 'b', spanId: '2', context: toolCall('no_way') }),
    checkRequest({ ...agent, token: '' }),
    checkRequest(other, { traceId: 'b', spanId: '1' }),
    checkRequest(agent, { traceId: 'b', spanId: '1' }),
  ]);
  expect(responses.map(({ decision, policyRule, opId }) => [decision, policyRule, opId])).toEqual([
    [1, 'default', 'b:1'],
    [2, 'mix/no', 'b:2'],
    [2, 'identity', ''],
    [1, 'default', 'b:1'],
    [1, 'default', 'b:1'],
  ]);
});

test('a thousand entries are taken, one more is refused whole', async () => {
  const requests = Array.from({ length: 1000 }, () => checkRequest(agent));
  expect(await gateway.batch(requests)).toHaveLength(1000);
  const before = gateway.audit().length;
  await expect(gateway.batch([...requests, checkRequest(agent)])).rejects.toMatchObject({
    code: 3,
    details: expect.stringContaining('at most 1000'),
  });
  expect(gateway.audit()).toHaveLength(before);
});

test('a malformed entry fails the batch before any is judged, and is named by its index', async () => {
  const before = gateway.audit().length;
  const malformed = checkRequest(agent, { traceId: 'a:b', spanId: '1' });
  await expect(gateway.batch([checkRequest(agent), malformed])).rejects.toMatchObject({
    code: 3,
    details: expect.stringMatching(/^requests\[1\]\.trace_id: /),
  });
  expect(gateway.audit()).toHaveLength(before);
});

test('an empty batch has an empty answer', async () => {
  expect(await gateway.batch([])).toEqual([]);
});

function openStream() {
  const stream = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
  const answers: CheckResponse[] = [];
  stream.on('data', (answer: CheckResponse) => answers.push(answer));
  return { stream, answers };
}

test('a stream answers in request order, also under load', async () => {
  const { stream, answers } = openStream();
  for (let i = 0; i < 5000; i++) {
    const context = toolCall(i % 7 === 0 ? 'no_way' : 'search');
    stream.write(checkRequest(i % 3 === 0 ? other : agent, { traceId: 'stream', spanId: `${i}`, context }));
  }
  stream.end();
  await once(stream, 'end');
  expect(answers.map((answer) => answer.opId)).toEqual(answers.map((_, i) => `stream:${i}`));
  expect(answers).toHaveLength(5000);
  expect(answers.filter((answer) => answer.decision === 2)).toHaveLength(Math.ceil(5000 / 7));
});

test('a malformed entry is denied in its place, and the stream goes on', async () => {
  const { stream, answers } = openStream();
  stream.write(checkRequest(agent, { traceId: 'm', spanId: '1' }));
  stream.write(checkRequest(agent, { traceId: 'no spaces', spanId: '1' }));
  stream.write(checkRequest(agent, { estimatedCostMicros: -1 }));
  stream.write(checkRequest(agent, { traceId: 'm', spanId: '2' }));
  stream.end();
  await once(stream, 'end');
  expect(answers.map(({ decision, reason }) => [decision, reason])).toEqual([
    [1, 'allowed by default'],
    [2, expect.stringMatching(/^invalid request: trace_id: /)],
    [2, expect.stringMatching(/^invalid request: estimated_cost_micros: /)],
    [1, 'allowed by default'],
  ]);
});

test('malformed and valid entries of the same moment keep their order', async () => {
  const { stream, answers } = openStream();
  for (let i = 0; i < 300; i++)
    stream.write(checkRequest(agent, { traceId: i % 3 === 1 ? 'not valid' : 'mixed', spanId: `${i}` }));
  stream.end();
  await once(stream, 'end');
  expect(answers.map((answer) => answer.opId)).toEqual(answers.map((_, i) => (i % 3 === 1 ? '' : `mixed:${i}`)));
  expect(answers).toHaveLength(300);
});

test('streams of many agents at once neither mix nor lose answers', async () => {
  const runs = Array.from({ length: 20 }, async (_, s) => {
    const { stream, answers } = openStream();
    for (let i = 0; i < 200; i++) stream.write(checkRequest(agent, { traceId: `many-${s}`, spanId: `${i}` }));
    stream.end();
    await once(stream, 'end');
    return answers.map((answer) => answer.opId);
  });
  for (const [s, opIds] of (await Promise.all(runs)).entries()) {
    expect(opIds).toEqual(Array.from({ length: 200 }, (_, i) => `many-${s}:${i}`));
  }
});

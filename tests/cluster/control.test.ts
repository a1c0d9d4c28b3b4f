import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

type Scoped = RouteOutput<Routes['controlScope']>;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair[Symbol.asyncDispose]());

test('an agent that is registered at one opens its control stream at the other right away', async () => {
  const { one, two } = pair;
  for (let round = 0; round < 20; round++) {
    const agent = await one.register({ agentId: `listener-${round}` });
    const stream = new ControlStream(two.client, agent);
    const path = `/api/v1/ops/${round}:s/pause`;
    await one.check(agent, { traceId: `${round}`, spanId: 's' });
    const opened = await Promise.race([stream.accepted.then(() => 'accepted'), stream.ended]);
    expect(opened).toBe('accepted');
    // What an operator does at one gateway reaches the agent at the other.
    expect((await one.api.post(path, bootstrapKey, {})).status).toBe(202);
    expect(await stream.heard(1)).toEqual([`1 pause ${round}:s`]);
    stream.cancel();
  }
});

test('a control of many with the same key, at both gateways at once, is one control', async () => {
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'many' });
  for (let round = 0; round < 5; round++) {
    for (let nth = 0; nth < 5; nth++) await one.check(agent, { traceId: `many-${round}`, spanId: `${nth}` });
    const json = { action: 'terminate', scope: { agent_id: 'many' }, reason: 'enough' };
    const headers = { 'idempotency-key': `round-${round}` };
    const answers = await Promise.all(
      [one, two].map(({ api }) => api.send<Scoped>('POST', '/api/v1/control', { bearer: bootstrapKey, json, headers })),
    );
    const [first, second] = answers.map(({ status, body }) => ({ status, body }));
    expect(second).toEqual(first);
    expect(first).toMatchObject({ status: 202, body: { matched: 5, changed: 5 } });
  }
});

import { once } from 'node:events';
import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventSocket } from '../harness/event-socket.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest, runServe, TestGateway } from '../harness/gateway.ts';

/** The cost of one action has a bound besides all caps, so that nobody exhausts a shared budget with one number. */

const invalidArgument = 3;
const tooMuch = 5_000_001;
const bound = /cost_micros: must be at most 5000000 \(5\.00 USD\)/;
const policy = 'name: money\ndefault: allow\nbudget: { daily_limit_usd: 1000 }\n';

let gateway: TestGateway;
let bot: Registered;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy }, env: { SVC_MAX_ACTION_COST_USD: '5' } });
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const globalDay = async () => {
  const { body } = await gateway.api.get<{ items: { spent_usd: string; reserved_usd: string }[] }>(
    '/api/v1/budgets?tier=global&period=day',
    bootstrapKey,
  );
  return { spent: body.items[0]?.spent_usd, reserved: body.items[0]?.reserved_usd };
};

describe('a cost above what one action may cost', () => {
  test('is refused by CheckAction, and what may be is not', async () => {
    await expect(gateway.check(bot, { estimatedCostMicros: tooMuch })).rejects.toMatchObject({
      code: invalidArgument,
      message: expect.stringMatching(bound),
    });
    expect(await globalDay()).toEqual({ spent: '0.00', reserved: '0.00' });
    const { opId } = await gateway.check(bot, { estimatedCostMicros: tooMuch - 1 });
    expect(await globalDay()).toEqual({ spent: '0.00', reserved: '5.00' });
    await gateway.complete(bot, opId, { actualCostMicros: 0 });
  });

  test('fails a batch whole, naming the entry, and is denied in its place in a stream', async () => {
    const [good, bad] = [checkRequest(bot, {}), checkRequest(bot, { estimatedCostMicros: tooMuch })];
    const batch = gateway.batch([good, bad, good]);
    await expect(batch).rejects.toMatchObject({
      code: invalidArgument,
      message: expect.stringMatching(/requests\[1\]\.estimated_cost_micros: must be at most/),
    });
    const stream = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
    const answers: CheckActionResponse[] = [];
    stream.on('data', (answer: CheckActionResponse) => answers.push(answer));
    for (const request of [good, bad, good]) stream.write(request);
    stream.end();
    await once(stream, 'end');
    expect(answers.map((answer) => answer.decision)).toEqual([1, 2, 1]);
    expect(answers[1]?.reason).toMatch(/^invalid request: estimated_cost_micros: must be at most/);
  });

  test('is refused on completion, over gRPC and HTTP, and changes nothing', async () => {
    const { opId } = await gateway.check(bot, { estimatedCostMicros: 1_000_000 });
    const before = gateway.audit().length;
    for (const actualCostMicros of [tooMuch, Number.MAX_SAFE_INTEGER]) {
      await expect(gateway.complete(bot, opId, { actualCostMicros })).rejects.toMatchObject({
        code: invalidArgument,
        message: expect.stringMatching(bound),
      });
      const { status, body } = await gateway.api.post<{ detail: string }>(
        `/api/v1/ops/${opId}/complete`,
        bootstrapKey,
        { actual_cost_micros: actualCostMicros },
      );
      expect([status, body.detail]).toEqual([422, expect.stringMatching(bound)]);
    }
    const { body } = await gateway.api.get<{ state: string }>(`/api/v1/ops/${opId}`, bootstrapKey);
    expect(body.state).toBe('running');
    expect(await globalDay()).toEqual({ spent: '0.00', reserved: '1.00' });
    expect(gateway.audit()).toHaveLength(before);
    await gateway.complete(bot, opId, { actualCostMicros: 0 });
  });

  test('is refused in simulations and cases', async () => {
    const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
    const asked = { agent, action_type: 'agent_spawn', estimated_cost_micros: tooMuch };
    const simulated = await gateway.api.post<{ detail: string }>('/api/v1/policies/simulate', bootstrapKey, asked);
    expect([simulated.status, simulated.body.detail]).toEqual([422, expect.stringMatching(bound)]);
    const cases = (cost: string) =>
      `cases:\n  - case: dear\n    agent: acme/core/bot\n    action: { type: agent_spawn }\n    ${cost}\n    decision: allow\n`;
    for (const cost of [
      `cost_micros: ${tooMuch}`,
      'cost_usd: 5.01',
      `before: [{ agent: acme/core/bot, action: { type: agent_spawn }, settled_micros: ${tooMuch} }]`,
    ]) {
      const tested = await gateway.api.post<{ detail: string }>('/api/v1/policies/test', bootstrapKey, {
        cases: cases(cost),
      });
      expect([tested.status, tested.body.detail]).toEqual([422, expect.stringContaining('must be at most 5000000')]);
    }
  });
});

test('an action that did cost far more than was held back is booked, told of and recorded', async () => {
  const socket = await EventSocket.open(gateway.http, { query: { types: 'audit_alert' } });
  const { opId } = await gateway.check(bot, { estimatedCostMicros: 100_000 });
  await gateway.complete(bot, opId, { actualCostMicros: 1_000_001 });
  expect(await socket.received(1)).toMatchObject([
    {
      event_type: 'audit_alert',
      org_id: 'acme',
      payload: { alert: 'budget_overrun', op_id: opId, actual_usd: '1.000001', reserved_usd: '0.10' },
    },
  ]);
  socket.close();
  expect(await globalDay()).toMatchObject({ spent: '1.000001' });
  const { body } = await gateway.api.get<{ items: { op_id: string; payload: object }[] }>(
    '/api/v1/logs?event_type=BudgetOverrun',
    bootstrapKey,
  );
  expect(body.items).toMatchObject([{ op_id: opId, payload: { actual_micros: 1_000_001, reserved_micros: 100_000 } }]);
});

test.each(['0', '-1', 'much', '1e3', '9007199255', '1.0000001'])(
  'SVC_MAX_ACTION_COST_USD=%s stops the start',
  async (value) => {
    const { code, stderr } = await runServe([], { SVC_MAX_ACTION_COST_USD: value });
    expect(code).not.toBe(0);
    expect(stderr).toContain('US dollars above 0, up to 9007199254, with at most six decimals');
  },
);

import { describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { OpUsage } from './op.ts';

const bot = agentId('acme/search/bot');
const policy = `
default: allow
pricing:
  cached-*: { input_per_mtok_usd: 3, output_per_mtok_usd: 15, cached_input_per_mtok_usd: 0.3 }
  plain-*: { input_per_mtok_usd: 3, output_per_mtok_usd: 15 }
  dear: { input_per_mtok_usd: 1000000, output_per_mtok_usd: 1000000 }
`;

async function calling(model: string): Promise<{ test: TestGovernance; agent: TestAgent }> {
  const test = await testGovernance();
  await test.policies(policy);
  const agent = await test.register(bot);
  const call = action('llm_call', { model, promptTokens: 100, maxOutputTokens: 10 });
  await test.check(agent, { traceId: 't', spanId: 's', action: call });
  return { test, agent };
}

const used = (inputTokens: number | null, outputTokens: number | null, cachedInputTokens: number | null = null) => ({
  usage: { inputTokens, outputTokens, cachedInputTokens },
});

function spent({ gov }: TestGovernance) {
  const { spent: sums, reserved } = gov.ledger.read({ tier: 'agent', ...bot });
  return { day: sums.day, reserved };
}

describe('a model call that tells its tokens', () => {
  test.each<[string, { readonly usage: OpUsage }, number]>([
    ['plain-1', used(100, 10), 450],
    ['plain-1', used(90, 1), 285],
    ['plain-1', used(100, 10, 60), 450],
    ['cached-1', used(100, 10, 60), 120 + 18 + 150],
    ['cached-1', used(100, null, 100), 30],
    ['cached-1', used(null, 10), 150],
    ['cached-1', used(1, 0, 1), 1],
    ['cached-1', used(0, 0), 0],
    // No price of its own: the estimate of the check counts, which is nothing here.
    ['unknown', used(100, 10), 0],
  ])('of %s with %j costs %d', async (model, members, cost) => {
    const { test, agent } = await calling(model);
    expect(await test.complete(agent, 't:s', members)).toMatchObject({ costMicros: cost, ...members });
    expect(spent(test)).toEqual({ day: cost, reserved: 0 });
    const entry = (await test.audit()).at(-1);
    const { inputTokens, outputTokens, cachedInputTokens } = members.usage;
    expect(entry?.payload).toMatchObject({
      cost_micros: cost,
      ...(inputTokens === null ? {} : { input_tokens: inputTokens }),
      ...(outputTokens === null ? {} : { output_tokens: outputTokens }),
      ...(cachedInputTokens === null ? {} : { cached_input_tokens: cachedInputTokens }),
    });
    expect(Object.hasOwn(entry?.payload ?? {}, 'cached_input_tokens')).toBe(cachedInputTokens !== null);
  });

  test('costs what it says, if it says both', async () => {
    const { test, agent } = await calling('plain-1');
    const record = await test.complete(agent, 't:s', { ...used(100, 10), actualCostMicros: 7 });
    expect(record).toMatchObject({ costMicros: 7, ...used(100, 10) });
  });

  test('costs by the prices in force when it is completed', async () => {
    const { test, agent } = await calling('plain-1');
    await test.policies(policy.replace('plain-*: { input_per_mtok_usd: 3', 'plain-*: { input_per_mtok_usd: 30'));
    expect(await test.complete(agent, 't:s', used(100, 10))).toMatchObject({ costMicros: 3150 });
  });

  test('is told of if it cost far more than was held back', async () => {
    const { test, agent } = await calling('plain-1');
    await test.complete(agent, 't:s', used(1_000_000, 0));
    expect((await test.audit()).slice(-2)).toMatchObject([
      { event_type: 'OpStateChanged', payload: { cost_micros: 3_000_000, reserved_micros: 450 } },
      { event_type: 'BudgetOverrun', payload: { actual_micros: 3_000_000 } },
    ]);
  });

  test.each([
    ['more cached than input', 'plain-1', used(10, 10, 11), 'cached_input_tokens: must be at most input_tokens'],
    ['cached without input', 'plain-1', used(null, 10, 1), 'cached_input_tokens: must be at most input_tokens'],
    ['fewer than none', 'plain-1', used(-1, 10), 'input_tokens: must be a whole number'],
    ['a part of one', 'plain-1', used(1, 0.5), 'output_tokens: must be a whole number'],
    ['more than one action may cost', 'dear', used(2 ** 31 - 1, 0), 'must be at most 1000000000 (1000.00 USD)'],
  ])('with %s is refused and changes nothing', async (_, model, members, words) => {
    const { test, agent } = await calling(model);
    const before = spent(test);
    await expect(test.complete(agent, 't:s', members)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(words),
    });
    expect(test.opsOf(bot).get('t:s')).toMatchObject({ state: 'running', usage: null });
    expect(spent(test)).toEqual(before);
  });
});

test('tokens of anything but a model call are kept, and cost nothing by themselves', async () => {
  const { test, agent } = await calling('plain-1');
  const tool = action('tool_call', { tool: 'plain-1' });
  await test.check(agent, { traceId: 't', spanId: 'tool', action: tool, estimatedCostMicros: 5 });
  expect(await test.complete(agent, 't:tool', used(100, 10))).toMatchObject({ costMicros: 5, ...used(100, 10) });
});

test('a completion that is not durable leaves neither cost nor tokens', async () => {
  const { test, agent } = await calling('plain-1');
  const before = spent(test);
  test.failure = new Error('disk full');
  await expect(test.complete(agent, 't:s', used(1, 1))).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(test.opsOf(bot).get('t:s')).toMatchObject({ state: 'running', costMicros: 450, usage: null });
  expect(spent(test)).toEqual(before);
});

test('after a crash, tokens and sums are what they were', async () => {
  const { test, agent } = await calling('cached-1');
  const record = await test.complete(agent, 't:s', used(100, 10, 60));
  const sums = spent(test);
  const next = await test.crash();
  expect(next.opsOf(bot).get('t:s')).toMatchObject({ state: 'completing', costMicros: 288, usage: record.usage });
  expect(spent(next)).toEqual(sums);
});

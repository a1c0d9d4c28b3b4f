import { RateLimitError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInPriceOf } from '../../packages/core/src/budget/built-in-prices.ts';
import { priceTable } from '../../packages/core/src/budget/price-table.ts';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { LlmWorld } from './llm-world.ts';

/** A cap, and not a word about prices. */
const policy = 'name: test\ndefault: allow\nbudget: {agent_daily_limit_usd: 0.05}\n';
const messages = [{ role: 'user' as const, content: 'How long do refunds take?' }];

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start({ policy });
});
afterAll(() => world[Symbol.asyncDispose]());

const ask = (model: string) => world.openai().chat.completions.create({ model, messages, max_tokens: 1000 });

test('a call is paid by the built-in price, exact to the micro-dollar, and the log says which price it was', async () => {
  await ask('gpt-5-mini');
  const price = builtInPriceOf('gpt-5-mini-2025-08-07');
  const { usage } = await ask('gpt-5-mini-2025-08-07');
  const { prompt_tokens: input = 0, completion_tokens: output = 0, prompt_tokens_details: details } = usage ?? {};
  const cached = details?.cached_tokens ?? 0;
  const cost = Math.ceil(
    ((input - cached) * (price?.inputPerMtok ?? 0) +
      cached * (price?.cachedInputPerMtok ?? 0) +
      output * (price?.outputPerMtok ?? 0)) /
      1e6,
  );
  expect(cost).toBeGreaterThan(0);
  expect(await world.spent()).toBe(2 * cost);
  expect(world.checks().map(({ payload }) => payload['price'])).toEqual(
    Array.from({ length: 2 }, () => `built in, ${priceTable.asOf}`),
  );
});

test('a cap holds without any configured price, and the refusal says where the price comes from', async () => {
  const before = world.upstream.seen.length;
  // 1000 tokens of this model's output alone cost more than the cap.
  const refusal = await ask('gpt-5-pro').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RateLimitError);
  expect(String(refusal)).toContain(
    `(price built in, ${priceTable.asOf}) would pass the agent's cap of 0.05 USD a day`,
  );
  expect(world.upstream.seen.length).toBe(before);
  // Neither another date nor another letter case makes it cheaper.
  for (const model of ['gpt-5-pro-2031-01-01', 'gpt-5-PRO', 'gpt-5-pro-latest']) {
    await expect(ask(model), model).rejects.toBeInstanceOf(RateLimitError);
  }
});

test('reeve llm prices shows what counts, and where it comes from', async () => {
  using home = new TestHome();
  const run = (args: readonly string[], key = bootstrapKey) =>
    home.run(['llm', 'prices', ...args], { env: { REEVE_API_URL: world.gateway.http, REEVE_API_KEY: key } });
  const all = await run([]);
  expect(all).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`built in: ${priceTable.asOf}, `),
  });
  expect(all.stdout.trim().split('\n').length).toBe(priceTable.rows.length + 1);
  const one = await run(['gpt-5-mini-2031-01-01', '-o', 'json']);
  expect(JSON.parse(one.stdout)).toMatchObject({
    items: [{ model: 'gpt-5-mini-2031-01-01', source: `built in, ${priceTable.asOf}` }],
    unknown_price: 'zero',
    built_in: { as_of: priceTable.asOf, source: expect.stringContaining(priceTable.source.version) },
  });
  expect(await run(['unheard-of'])).toMatchObject({
    code: 1,
    stdout: 'unheard-of has no price: unknown_price is zero.\n',
  });
  const { key } = await makeKey(world.gateway, { scopes: ['read'], org_id: 'acme' });
  expect(await run([], key)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('bound to no org') });
});

test('what an operator configures counts over the built-in prices, and is listed first', async () => {
  const text = 'name: test\ndefault: allow\npricing: {"gpt-*": {input_per_mtok_usd: 0, output_per_mtok_usd: 0.5}}\n';
  await using own = await LlmWorld.start({ policy: text });
  const { body } = await own.gateway.api.get<{ items: unknown[] }>('/api/v1/prices', bootstrapKey);
  expect(body.items.slice(0, 1)).toEqual([
    {
      model: 'gpt-*',
      input_per_mtok_usd: '0.00',
      output_per_mtok_usd: '0.50',
      cached_input_per_mtok_usd: '0.00',
      beyond: null,
      source: 'configured',
    },
  ]);
  await own.openai().chat.completions.create({ model: 'gpt-5-pro', messages });
  expect(own.checks()[0]?.payload).toMatchObject({ price: 'configured', cost_micros: 500 });
});

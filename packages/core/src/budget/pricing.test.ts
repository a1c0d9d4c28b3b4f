import { describe, expect, test } from 'vitest';
import { priceTable } from './price-table.ts';
import type { Price, UnknownPrice } from './pricing.ts';
import { findPrice, knownPriceOf, modelGlob, noPrices, priceOf, usageCostOf } from './pricing.ts';

const price = (
  model: string,
  inputPerMtok: number,
  outputPerMtok: number,
  cachedInputPerMtok: number = inputPerMtok,
): Price => ({
  model: modelGlob(model),
  inputPerMtok,
  outputPerMtok,
  cachedInputPerMtok,
});
/** One model has expensive input, the other expensive output. */
const prices = [price('ask-*', 9_000_000, 1_000_000), price('*-large', 2_000_000, 5_000_000)];
const by = (unknownPrice: UnknownPrice) => ({ prices, unknownPrice });
const call = (model: string, promptTokens: number, maxOutputTokens: number) => ({
  model,
  promptTokens,
  maxOutputTokens,
});

describe('a call costs', () => {
  test('its tokens, both ways, at the first price whose glob fits', () => {
    for (const unknown of ['deny', 'zero', 'worst'] as const) {
      expect(priceOf(by(unknown), call('ask-large', 100, 10))).toBe(910);
      expect(priceOf(by(unknown), call('x-large', 100, 10))).toBe(250);
    }
  });

  test('no fraction of a micro, but the next whole one', () => {
    const cheap = { prices: [price('m', 1, 0)], unknownPrice: 'zero' } as const;
    expect([0, 1, 999_999, 1_000_000, 1_000_001].map((tokens) => priceOf(cheap, call('m', tokens, 0)))).toEqual([
      0, 1, 1, 1, 2,
    ]);
  });

  test('where its model has no price, what policy assumes: nothing, the most of all prices, or nobody knows', () => {
    expect(priceOf(by('zero'), call('x', 100, 10))).toBe(0);
    expect(priceOf(by('worst'), call('x', 100, 10))).toBe(910);
    expect(priceOf(by('worst'), call('x', 10, 100))).toBe(520);
    expect(priceOf(by('deny'), call('x', 100, 10))).toBeUndefined();
  });

  test('nothing where nobody has a price, or the most of all built-in ones', () => {
    expect(priceOf(noPrices, call('x', 100, 10))).toBe(0);
    const dearest = Math.max(...priceTable.rows.map(([, input, output]) => (input * 100 + output * 10) / 1e6));
    expect(priceOf({ prices: [], unknownPrice: 'worst' }, call('x', 100, 10))).toBe(Math.ceil(dearest));
    expect(priceOf({ prices: [], unknownPrice: 'deny' }, call('x', 100, 10))).toBeUndefined();
  });
});

test('a price that is known assumes nothing', () => {
  expect(knownPriceOf(by('worst'), call('x-large', 100, 10))).toBe(250);
  expect(knownPriceOf(by('worst'), call('x', 100, 10))).toBeUndefined();
});

describe('what a call did use costs', () => {
  const used = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
    inputTokens,
    outputTokens,
    cachedInputTokens,
  });
  const cached = { prices: [price('m*', 3_000_000, 15_000_000, 300_000)], unknownPrice: 'worst' } as const;

  test('its input, its output, and its cached input at a price of its own', () => {
    expect(usageCostOf(cached, 'm', used(1000, 0))).toBe(3000);
    expect(usageCostOf(cached, 'm', used(1000, 10))).toBe(3150);
    expect(usageCostOf(cached, 'm', used(1000, 10, 900))).toBe(300 + 270 + 150);
    expect(usageCostOf(cached, 'm', used(0, 0))).toBe(0);
  });

  test('rounded up once, not part by part', () => {
    const cheap = { prices: [price('m', 100_000, 100_000, 100_000)], unknownPrice: 'zero' } as const;
    expect(usageCostOf(cheap, 'm', used(5, 5, 3))).toBe(1);
    expect(usageCostOf(cheap, 'm', used(6, 5, 3))).toBe(2);
  });

  test('nothing that anybody knows where its model has no price of its own', () => {
    expect(usageCostOf(cached, 'x', used(1000, 10))).toBeUndefined();
    expect(usageCostOf(noPrices, 'm', used(1000, 10))).toBeUndefined();
  });

  test('at most what was held back, whatever was cached', () => {
    const dear = { prices: [price('m', 1_000_000, 1_000_000, 2_000_000)], unknownPrice: 'zero' } as const;
    for (const seen of [0, 1, 50, 100]) {
      const cost = usageCostOf(dear, 'm', used(100, 10, seen)) ?? Number.NaN;
      expect(cost).toBeLessThanOrEqual(priceOf(dear, call('m', 100, 10)) ?? 0);
    }
  });
});

test('a configured price counts however the name of the model is spelled, and no spelling leads to the built-in one', () => {
  for (const configured of ['gpt-5-mini', 'GPT-5-Mini', 'gpt-5*', 'models/gpt-5-mini']) {
    const pricing = { prices: [price(configured, 9_000_000, 9_000_000)], unknownPrice: 'deny' } as const;
    for (const model of ['gpt-5-mini', 'GPT-5-MINI', 'models/gpt-5-mini', 'Models/GPT-5-mini']) {
      expect(findPrice(pricing, model)?.source, `${model} by ${configured}`).toBe('configured');
    }
  }
});

import { describe, expect, test } from 'vitest';
import { compileGlob } from '../kernel/glob.ts';
import type { Price, UnknownPrice } from './budget-policy.ts';
import { knownPriceOf, noPrices, priceOf } from './budget-policy.ts';

const price = (model: string, inputPerMtok: number, outputPerMtok: number): Price => ({
  model: compileGlob(model),
  inputPerMtok,
  outputPerMtok,
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

  test('nothing where policy has no prices', () => {
    expect(priceOf(noPrices, call('x', 100, 10))).toBe(0);
    expect(priceOf({ prices: [], unknownPrice: 'worst' }, call('x', 100, 10))).toBe(0);
    expect(priceOf({ prices: [], unknownPrice: 'deny' }, call('x', 100, 10))).toBeUndefined();
  });
});

test('a price that is known assumes nothing', () => {
  expect(knownPriceOf(by('worst'), call('x-large', 100, 10))).toBe(250);
  expect(knownPriceOf(by('worst'), call('x', 100, 10))).toBeUndefined();
});

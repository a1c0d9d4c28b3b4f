import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { microsPerMtok, readPrices } from '../../scripts/prices/read-prices.ts';

const listed = (models: Readonly<Record<string, string>>): string =>
  `{${Object.entries(models)
    .map(([name, members]) => `${JSON.stringify(name)}: {${members}}`)
    .join(',')}}`;
const openai = '"litellm_provider": "openai", "mode": "chat"';

test.each([
  ['2.5e-06', 2_500_000],
  ['0.00015', 150_000_000],
  ['1E-12', 1],
  ['1.0e-5', 10_000_000],
  ['0', 0],
  ['3', 3_000_000_000_000],
])('%s dollars for a token are %d micro-dollars for a million', (text, micros) => {
  expect(microsPerMtok(text)).toBe(micros);
});

test.each([
  '1e-13',
  '1.5000000000000002e-06',
  '-1e-6',
  'NaN',
  '',
  '1e-06 ',
  '1e99',
  '12345678901234',
  undefined,
  null,
  {},
])('%j is not exact, or no price', (text) => {
  expect(microsPerMtok(text)).toBeNaN();
});

test('every whole amount comes out as it went in, however it is written', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000_000), fc.integer({ min: -9, max: 9 }), (micros, shift) => {
      const digits = String(micros).padStart(30, '0');
      const point = digits.length - 12 + shift;
      expect(microsPerMtok(`${digits.slice(point - 9, point)}.${digits.slice(point)}e${-shift}`)).toBe(micros);
    }),
  );
});

test('a number is read as it is written, not as the nearest float', () => {
  const { rows, refused } = readPrices(
    listed({
      exact: `${openai}, "input_cost_per_token": 0.0000001, "output_cost_per_token": 3e-7`,
      noise: `${openai}, "input_cost_per_token": 1.0000000000000001e-07, "output_cost_per_token": 3e-7`,
    }),
  );
  expect(rows).toEqual([['exact', 100_000, 300_000, 100_000]]);
  expect(refused).toEqual(['noise: a price is no whole number of micro-dollars for a million tokens']);
});

test('providers that are asked directly count, by the names that they use, and of two prices the dearer one', () => {
  const price = '"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6';
  const gemini = '"litellm_provider": "gemini", "mode": "chat"';
  const { rows } = readPrices(
    listed({
      'gemini/gemini-x': `${gemini}, ${price}, "cache_read_input_token_cost": 1e-7`,
      'gemini-x': `${gemini}, "input_cost_per_token": 5e-7, "output_cost_per_token": 9e-6`,
      'azure/gpt-x': `"litellm_provider": "azure", "mode": "chat", ${price}`,
      pictures: `"litellm_provider": "openai", "mode": "image_generation", ${price}`,
      'embed-x': '"litellm_provider": "cohere", "mode": "embedding", "input_cost_per_token": 1e-7',
    }),
  );
  expect(rows).toEqual([
    ['embed-x', 100_000, 0, 100_000],
    ['gemini-x', 1_000_000, 9_000_000, 500_000],
  ]);
});

test('long inputs have a price of their own, which is never below the other', () => {
  const members = `${openai}, "input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6, "cache_read_input_token_cost": 2e-7,
    "input_cost_per_token_above_200k_tokens": 4e-6, "output_cost_per_token_above_200k_tokens": 3e-6,
    "input_cost_per_token_above_200k_tokens_priority": 9e-6`;
  expect(readPrices(listed({ long: members })).rows).toEqual([
    ['long', 2_000_000, 4_000_000, 200_000, [200_000, 4_000_000, 4_000_000, 4_000_000]],
  ]);
  const two = `${members}, "input_cost_per_token_above_400k_tokens": 5e-6`;
  expect(readPrices(listed({ long: two }))).toMatchObject({
    rows: [],
    refused: [expect.stringContaining('more than one')],
  });
});

test.each([
  ['free', `${openai}, "input_cost_per_token": 0, "output_cost_per_token": 0`],
  [
    'sound',
    `${openai}, "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "output_cost_per_audio_token": 1e-5`,
  ],
  ['Capital', `${openai}, "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6`],
  ['none', openai],
])('%s is left out, and said so', (name, members) => {
  expect(readPrices(listed({ [name]: members }))).toMatchObject({ rows: [], refused: [expect.stringContaining(name)] });
});

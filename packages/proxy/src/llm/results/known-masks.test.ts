import { expect, test } from 'vitest';
import { KnownMasks } from './known-masks.ts';

test('a model whose prompts were masked stays known, whoever called it', () => {
  const masks = new KnownMasks();
  masks.note('m');
  expect([masks.has('m'), masks.has('other')]).toEqual([true, false]);
});

test('nobody washes a mask off by naming many models', () => {
  const masks = new KnownMasks();
  for (let nth = 0; nth < 5000; nth++) masks.note(`m${nth}`);
  expect([masks.has('m0'), masks.has('m4999'), masks.has('other')]).toEqual([true, true, true]);
});

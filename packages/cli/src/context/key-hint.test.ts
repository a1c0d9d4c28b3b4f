import { expect, test } from 'vitest';
import { keyHint } from './key-hint.ts';

const right = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

test('a hint shows the id of a key and never its secret, and little of anything else', () => {
  expect(keyHint(right)).toBe('rvk_abcdefghijkl…');
  expect(keyHint('short')).toBe('s…');
  expect(keyHint('ab')).toBe('…');
  expect(keyHint('x'.repeat(100))).toBe('xxxxxxxx…');
});

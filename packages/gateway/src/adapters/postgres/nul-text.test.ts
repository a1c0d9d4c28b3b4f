import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { original, storable } from './nul-text.ts';

const oddText = fc
  .array(fc.constantFrom('\0', '\u0001', '0', '1', 'a', '🦊'), { maxLength: 12 })
  .map((characters) => characters.join(''));

test('any text comes back as it was, and no text is stored with U+0000', () => {
  fc.assert(
    fc.property(fc.oneof(oddText, fc.string({ unit: 'binary' })), (text) => {
      expect(storable(text)).not.toContain('\0');
      expect(original(storable(text))).toBe(text);
    }),
    { numRuns: 1000 },
  );
});

test('what holds neither U+0000 nor the escape is stored as it is', () => {
  expect(storable('plain "text" \n ü 🦊')).toBe('plain "text" \n ü 🦊');
});

test('two texts are never stored alike', () => {
  fc.assert(
    fc.property(oddText, oddText, (one, other) => {
      expect(storable(one) === storable(other)).toBe(one === other);
    }),
    { numRuns: 1000 },
  );
});

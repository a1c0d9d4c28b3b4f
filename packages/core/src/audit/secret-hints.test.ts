import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayHoldSecret, nextHintOfSecret } from './redact.ts';

const words = mayHoldSecret.source.split('|').map((word) => word.replaceAll(/\[(\w)\w*\]/g, '$1').replaceAll('\\', ''));
const piece = fc.oneof(
  fc.constantFrom(...words, ...words.map((word) => word.toUpperCase()), ...words.map((word) => word.slice(0, -1))),
  fc.constantFrom('', ' ', '\n', 'ſ', 'K', 'e', 'rv', '_', ':', '/'),
  fc.string({ maxLength: 5 }),
);

test.each(words)('%j is a hint, wherever it stands', (word) => {
  expect(nextHintOfSecret(word, 0)).toBe(0);
  expect(nextHintOfSecret(`so ${word.toUpperCase()}`, 0)).toBe(3);
  expect(nextHintOfSecret(`${word} `, word.length)).toBe(-1);
});

test('hints are where the expression finds one, and nowhere else', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      const every = new RegExp(mayHoldSecret.source, 'gi');
      for (let from = 0; from < text.length; from++) {
        every.lastIndex = from;
        expect(nextHintOfSecret(text, from)).toBe(every.exec(text)?.index ?? -1);
      }
    }),
  );
});

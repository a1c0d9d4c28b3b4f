import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitsIn, shortened, toldReason, utf8Length } from './bounds.ts';

const texts = fc.string({ unit: 'binary', maxLength: 200 });

describe('the length of a text in UTF-8', () => {
  test('is what encoders come to', () => {
    fc.assert(fc.property(texts, (text) => utf8Length(text) === new TextEncoder().encode(text).length));
    expect(['a', 'é', '€', '😀', '\ud83d', '\ude00x'].map(utf8Length)).toEqual([1, 2, 3, 4, 3, 4]);
  });

  test('decides what fits', () => {
    fc.assert(fc.property(texts, fc.nat(600), (text, bytes) => fitsIn(text, bytes) === utf8Length(text) <= bytes));
  });
});

describe('a text that is too long', () => {
  test('keeps its beginning, within the bound and without half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (text, most) => {
        const short = shortened(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(short.isWellFormed()).toBe(true);
        expect(text.startsWith(short.replace(/…$/, ''))).toBe(true);
        if (text.length <= most) expect(short).toBe(text);
      }),
    );
  });

  test('is told to agents up to 1,024 characters', () => {
    expect(toldReason('x'.repeat(1024))).toBe('x'.repeat(1024));
    expect(toldReason('x'.repeat(1025))).toBe(`${'x'.repeat(1023)}…`);
  });
});

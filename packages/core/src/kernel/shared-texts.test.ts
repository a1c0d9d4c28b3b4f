import { expect, test } from 'vitest';
import { SharedTexts } from './shared-texts.ts';

test('every text stays what it is, however many there are', () => {
  const texts = new SharedTexts();
  for (const time of [1, 2]) {
    for (let number = 0; number < 10_000; number++) {
      expect(texts.of(`text ${number} ${time}`)).toBe(`text ${number} ${time}`);
      expect(texts.of('allowed by rule base')).toBe('allowed by rule base');
    }
  }
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { spelledInAnyCase } from './spelling.ts';

/** JavaScript reads the syntax that we use in the same way as PostgreSQL. */
function finds(q: string, text: string): boolean {
  return new RegExp(spelledInAnyCase(q.toLowerCase()), 'u').test(text);
}

test.each([
  ['übung', 'die Übung', true],
  ['ÜBUNG', 'die übung', true],
  ['übung', 'die Ubung', false],
  ['日本', 'in 日本!', true],
  ['a.c', 'abc', false],
  ['a.c*(é)[x]{2}^$|\\', 'xA.C*(É)[X]{2}^$|\\', true],
  ['å', 'der \u212b-Wert', true],
  ['🦊', 'a 🦊', true],
])('%s in "%s": %s', (q, text, found) => {
  expect(finds(q, text)).toBe(found);
});

test('finds what comparing in lower case finds', () => {
  const letters = fc.array(fc.constantFrom('a', 'A', 'é', 'É', 'ß', 'я', 'Я', '.', '\\', ']', ' '), { maxLength: 4 });
  fc.assert(
    fc.property(letters, letters, letters, (before, q, after) => {
      const text = [...before, ...after].join('');
      expect(finds(q.join(''), text)).toBe(text.toLowerCase().includes(q.join('').toLowerCase()));
    }),
    { numRuns: 2000 },
  );
});

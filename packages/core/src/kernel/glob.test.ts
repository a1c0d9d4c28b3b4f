import { cpuMs } from '../testkit/cpu-time.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slowGlobMatches } from '../testkit/slow-glob.ts';
import { compileGlob, GlobError } from './glob.ts';

const plain = fc.constantFrom('a', 'b', '/', '.', '-', '+', '(', '$', '^', '{', '|', '🦊', ' ', '\n', ']', '!');
const setMember = fc.constantFrom('a', 'b', 'c', '/', '.', '^', '!', '🦊', '+', '&&', '~', '-', 'a-c', '0-9', '+--');
const someSet = fc
  .tuple(fc.constantFrom('', '!', '^', ']'), fc.array(setMember, { minLength: 1, maxLength: 3 }))
  .map(([start, members]) => `[${start}${members.join('')}]`);
const piece = fc.oneof(
  { weight: 5, arbitrary: plain },
  { weight: 2, arbitrary: fc.constantFrom('*', '**', '***', '?') },
  { weight: 1, arbitrary: someSet },
  { weight: 1, arbitrary: fc.constantFrom('\\*', '\\?', '\\[', '\\\\', '\\a', '\\🦊') },
);
const someGlob = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))
  .filter(isGood);
const someText = fc.string({ unit: fc.oneof(plain, fc.constantFrom('*', '?', '[', '\\', 'c', '5')), maxLength: 8 });

function isGood(glob: string): boolean {
  try {
    compileGlob(glob);
    return true;
  } catch {
    return false;
  }
}

/** A text that has a good chance to match: the glob with its special characters filled in. */
function nearly(glob: string, filling: string): string {
  return glob
    .replace(/\[[^\]]*\]/g, 'a')
    .replace(/\*+/g, filling)
    .replace(/\?/g, 'b')
    .replace(/\\/g, '');
}

test('a compiled glob agrees with one that is matched character by character', () => {
  fc.assert(
    fc.property(someGlob, someText, (glob, text) => {
      const compiled = compileGlob(glob);
      for (const tried of [text, nearly(glob, text), nearly(glob, ''), nearly(glob, 'a/b')]) {
        expect([glob, tried, compiled.matches(tried)]).toEqual([glob, tried, slowGlobMatches(glob, tried)]);
      }
    }),
    { numRuns: 2000 },
  );
});

test('so it does on long texts', () => {
  const filler = fc.tuple(fc.constantFrom('a', 'b', 'ab', 'a/', '🦊a', '/'), fc.constantFrom(10, 30, 90, 600));
  fc.assert(
    fc.property(someGlob, someText, filler, (glob, text, [unit, length]) => {
      const long = unit.repeat(length / 2);
      for (const tried of [text + long, long + text, nearly(glob, long), nearly(glob, text) + long]) {
        expect([glob, compileGlob(glob).matches(tried)]).toEqual([glob, slowGlobMatches(glob, tried)]);
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['**rm **-rf**', 'rm '],
  ['**-**-**-**x', '-'],
  ['*a*a*a*a*a*b', 'a'],
  ['**/**/**/**/x', '/'],
  ['*?*?*?*x', 'y'],
  ['*[ab]*[ab]*[ab]*c', 'ab'],
])('a text made for %j takes it time in proportion to its length', (glob, unit) => {
  const { matches } = compileGlob(glob);
  const time = (length: number) => {
    const text = unit.repeat(length / unit.length);
    return cpuMs(() => matches(text)) + 1;
  };
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && ratio >= 9; attempt++) ratio = Math.min(ratio, time(80_000) / time(20_000));
  expect(ratio).toBeLessThan(9);
});

test('every text that matches starts with the literal prefix, and equals it where the glob is literal', () => {
  fc.assert(
    fc.property(someGlob, someText, (source, text) => {
      const glob = compileGlob(source);
      for (const tried of [text, nearly(source, text)]) {
        if (glob.matches(tried)) expect(tried.startsWith(glob.prefix)).toBe(true);
        if (glob.literal) expect(glob.matches(tried)).toBe(tried === glob.prefix);
      }
    }),
    { numRuns: 1000 },
  );
});

describe('where case does not count', () => {
  const letters = fc.constantFrom('a', 'A', 'b', 'B', '.', 'ß', 'ſ', 'S', 's', 'K', 'k', 'İ', 'i');
  const glob = fc
    .array(fc.oneof(letters, fc.constantFrom('*', '?', '[aS]', '[!b]')), { minLength: 1, maxLength: 5 })
    .map((pieces) => pieces.join(''));

  test('a glob matches what its lower-case form matches in lower case', () => {
    fc.assert(
      fc.property(glob, fc.string({ unit: letters, maxLength: 5 }), (source, text) => {
        const expected = slowGlobMatches(source.toLowerCase(), text.toLowerCase());
        expect([source, text, compileGlob(source, true).matches(text)]).toEqual([source, text, expected]);
      }),
      { numRuns: 1000 },
    );
  });

  test('its prefix stands at the start of every lower-case text that matches', () => {
    fc.assert(
      fc.property(glob, fc.string({ unit: letters, maxLength: 5 }), (source, text) => {
        const compiled = compileGlob(source, true);
        for (const tried of [text.toLowerCase(), nearly(source, text).toLowerCase()]) {
          if (compiled.matches(tried)) expect(tried.startsWith(compiled.prefix)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  ['search', 'search', true],
  ['search', 'research', false],
  ['search', 'searching', false],
  ['search', 'Search', false],
  ['read_*', 'read_', true],
  ['read_*', 'read_file', true],
  ['read_*', 'read/file', false],
  ['*', 'a/b', false],
  ['**', 'a/b', true],
  ['/data/*', '/data/a', true],
  ['/data/*', '/data/a/b', false],
  ['/data/**', '/data/a/b', true],
  ['/data/**', '/data', false],
  ['/**/x', '/a/b/x', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a?c', 'a🦊c', true],
  ['[abc]', 'b', true],
  ['[!abc]', 'b', false],
  ['[^abc]', 'd', true],
  ['[a-c]x', 'bx', true],
  ['[]]', ']', true],
  ['[!]]', ']', false],
  ['[a-]', '-', true],
  ['\\*', '*', true],
  ['\\*', 'x', false],
  ['a.c', 'abc', false],
  ['(a|b)', 'a', false],
  ['*', 'line\nbreak', true],
  ['*', '', true],
  ['**', '', true],
  ['?', '', false],
])('%j against %j: %s', (glob, text, expected) => {
  expect(compileGlob(glob).matches(text)).toBe(expected);
});

test.each([
  ['', 'a glob must not be empty', 0],
  ['abc[de', '"[" has no matching "]"', 3],
  ['abc[', '"[" has no matching "]"', 3],
  ['[]', '"[" has no matching "]"', 0],
  ['[!]', '"[" has no matching "]"', 0],
  ['ab\\', 'a glob must not end with "\\"', 2],
  ['x[z-a]', 'the range "z-a" runs backwards', 2],
])('%j is refused: %s, at %d', (glob, message, offset) => {
  const refused = expect.objectContaining({ message, offset });
  expect(() => compileGlob(glob)).toThrow(GlobError);
  expect(() => compileGlob(glob)).toThrow(refused);
});

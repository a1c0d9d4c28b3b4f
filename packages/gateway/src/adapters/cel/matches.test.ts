import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from './matches.ts';
import { remembered } from './regex/automaton.ts';
import { PatternError } from './regex/pattern.ts';

function free(): void {}

function matches(pattern: string, text: string): boolean {
  return compilePattern(pattern).matches(text, free);
}

describe('what patterns match', () => {
  test.each([
    ['b', 'abc', 'ac'],
    ['^b', 'bc', 'abc'],
    ['b$', 'ab', 'abc'],
    ['^$', '', 'a'],
    ['a|bc', 'xbc', 'b c'],
    ['^(?:a|bc)+$', 'abca', 'abc!'],
    ['^a.c$', 'abc', 'a\nc'],
    ['(?s)^a.c$', 'a\nc', 'ac'],
    ['(?m)^b$', 'a\nb\nc', 'a\nbb\nc'],
    ['(?m)a$', 'a\nb', 'ab'],
    ['^a$', 'a', 'a\n'],
    ['\\Aa\\z', 'a', 'ba'],
    ['^a{2,3}$', 'aaa', 'aaaa'],
    ['^a{2}$', 'aa', 'a'],
    ['^a{2,}$', 'aaaaa', 'a'],
    ['^a{0,1}b??c+?$', 'abcc', 'aabc'],
    ['^a{,2}$', 'a{,2}', 'aa'],
    ['a{x', 'a{x', 'aax'],
    ['^[a-c]+$', 'abcb', 'abd'],
    ['^[^a-c]+$', 'xyz\n', 'xa'],
    ['^[]a]+$', ']a', 'b'],
    ['^[a-]+$', 'a-', 'b'],
    ['^[\\d_-]+$', '1_-', 'a'],
    ['^[^\\D]+$', '123', '12a'],
    ['^[[:alpha:]]+[[:^alpha:]]$', 'ab1', 'ab'],
    ['^\\d+\\D\\s\\S\\w\\W$', '12a ba!', '12a_ba!'],
    ['^\\w+$', 'a_1', 'é'],
    ['^\\s$', '\t', '\u00a0'],
    ['\\bcat\\b', 'a cat.', 'concat'],
    ['\\Bcat', 'concat', 'cat'],
    ['^\\pL+$', 'äß漢', 'a1'],
    ['^\\p{Greek}+$', 'αβγ', 'abc'],
    ['^\\P{Lu}\\p{^Lu}$', 'ab', 'aB'],
    ['^\\x41\\x{1F600}\\t\\.$', 'A😀\t.', 'A😀\t!'],
    ['^.$', '😀', 'ab'],
    ['^[😀-😂]$', '😁', '😃'],
    ['(?i)^straße$', 'STRAßE', 'strasse'],
    ['(?i)k', '\u212a', 'x'],
    ['^(?i:a)b$', 'Ab', 'AB'],
    ['^(?:a(?i)b|c)d$', 'aBd', 'aBD'],
    ['(?i)^a(?-i)b$', 'Ab', 'aB'],
    ['^\\Qa.b\\E+$', 'a.bb', 'aXb'],
    ['^(?P<name>a)(?<other>b)$', 'ab', 'b'],
    ['^(a*)*b$', 'aab', 'aac'],
    ['^(?:)*a$', 'a', ''],
    ['^(|a)+$', 'aaa', 'b'],
    ['x*', '', undefined],
    ['^(?:a?){3}a{3}$', 'aaaa', 'aa'],
  ] as const)('%s', (pattern, match, other) => {
    expect(matches(pattern, match)).toBe(true);
    if (other !== undefined) expect(matches(pattern, other)).toBe(false);
  });

  test.each([
    ['(a', '"(" has no matching ")"'],
    ['a)', '")" has no matching "("'],
    ['[a', '"[" has no matching "]"'],
    ['[]', '"[" has no matching "]"'],
    ['[b-a]', 'a range runs from a lower to a higher character'],
    ['*a', 'there is nothing to repeat'],
    ['a|+', 'there is nothing to repeat'],
    ['a**', 'a repetition cannot be repeated'],
    ['a{3,2}', 'counts from the lower to the higher'],
    ['a{1001}', 'a repetition may be counted up to 1000'],
    ['(a)\\1', 'backreferences are not available'],
    ['(?=a)', 'there is no lookaround'],
    ['(?<!a)b', 'there is no lookaround'],
    ['\\p{Elvish}', 'there is no such Unicode class'],
    ['[[:elvish:]]', 'there is no class'],
    ['a\\', 'a pattern must not end with "\\"'],
    ['(?:a{1000}){1000}', 'the pattern is too large'],
    ['(((((){1000}){1000}){1000}){1000})', 'the pattern is too large'],
    ['('.repeat(200) + ')'.repeat(200), 'nested 100 deep'],
  ])('%s is refused', (pattern, message) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
    expect(() => compilePattern(pattern)).toThrow(message);
  });
});

/** Patterns with the same meaning in JavaScript, small enough for its backtracking engine. */
const pattern = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  // Shallow, and for short texts: nested repetitions take that engine exponential time.
  atom: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    fc.constantFrom('a', 'b', '-', '.', '[ab]', '[^a]', '^', '$', '\\b', '\\B', '\\d', 'é', '😀', '\\n'),
    tie('pattern').map((inner) => `(?:${inner})`),
  ),
  pattern: fc
    .array(
      fc
        .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '|'))
        .map(([atom, suffix]) => {
          return /^(?:\^|\$|\\[bB])$/.test(atom) && suffix !== '|' ? atom : atom + suffix;
        }),
      { maxLength: 5 },
    )
    .map((parts) => parts.join('')),
}));

/** Without surrogate pairs: JavaScript finds places for `\B` inside them. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '1', '\n', 'é'), maxLength: 8 });

describe('the automaton', () => {
  test.each([
    ['', 'u'],
    ['(?m)', 'mu'],
    ['(?s)', 'su'],
  ])('agrees with the engine of JavaScript on patterns that both know (%s)', (prefix, flags) => {
    fc.assert(
      fc.property(pattern.pattern, fc.array(text, { minLength: 1, maxLength: 5 }), (source, texts) => {
        const mine = compilePattern(prefix + source);
        const theirs = new RegExp(source, flags);
        for (const one of texts) expect([one, mine.matches(one, free)]).toEqual([one, theirs.test(one)]);
      }),
      { numRuns: 1000 },
    );
  });

  test('remembers what it has worked out, and forgets it when it is too much', () => {
    const source = '[ab]*a[ab]{10}c';
    const automaton = compilePattern(source);
    let seed = 7;
    const text = Array.from({ length: 1500 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed > 1_073_741_824 ? 'a' : 'b';
    }).join('');
    expect(automaton.matches(text, free)).toBe(false);
    expect(automaton.matches(`${text}a${'b'.repeat(10)}c`, free)).toBe(true);
    expect(automaton.matches(`${text}b${'b'.repeat(10)}c`, free)).toBe(
      new RegExp(source).test(`${text}b${'b'.repeat(10)}c`),
    );
  });

  test('costs what the text is long, not what the pattern could do with it', () => {
    const cost = (pattern: string, text: string) => {
      let units = 0;
      compilePattern(pattern).matches(text, (more) => {
        units += more;
      });
      return units;
    };
    for (const evil of ['(a+)+$', '(a|aa)+b', '(a*)*b', '(a|a)*b', '(.*)(.*)(.*)=x', '(a?){30}a{30}b']) {
      const short = cost(evil, `${'a'.repeat(2000)}!`);
      expect(cost(evil, `${'a'.repeat(200_000)}!`)).toBeLessThan(150 * short);
    }
  });

  test('looks no further than a pattern that is anchored can match', () => {
    let units = 0;
    const charge = (more: number) => {
      units += more;
    };
    expect(compilePattern('^https://').matches('http'.repeat(1_000_000), charge)).toBe(false);
    expect(units).toBeLessThan(5000);
  });

  test('stops at once when the charge is refused', () => {
    const refuse = () => {
      throw new Error('no more');
    };
    expect(() => compilePattern('a').matches('b', refuse)).toThrow('no more');
  });
});

describe('what machines remember', () => {
  let seed = 7;
  const text = Array.from({ length: 3000 }, () =>
    (seed = (seed * 48_271) % 2_147_483_647) % 2 === 0 ? 'a' : 'b',
  ).join('');
  const letters = Array.from({ length: 200 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');

  test('is bounded for all of them together, and the answers stay right', () => {
    const machines = Array.from({ length: 100 }, (_, at) => compilePattern(`a[ab]{${10 + (at % 3)}}c${at}`));
    for (const machine of machines) expect(machine.matches(text, free)).toBe(false);
    const classes = Array.from({ length: 5 }, (_, at) => compilePattern(`${letters}${at}`));
    for (const [at, machine] of classes.entries()) expect(machine.matches(`${letters}${at}`, free)).toBe(true);
    expect(remembered()).toBeGreaterThan(500_000);
    expect(remembered()).toBeLessThanOrEqual(2_000_000);
    for (const [at, machine] of machines.entries()) {
      expect(machine.matches(`${text}${'a'.repeat(13)}c${at}`, free)).toBe(true);
    }
    for (const machine of classes) expect(machine.matches(letters, free)).toBe(false);
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPattern } from './find-pattern.ts';

function free(): void {}

function found(pattern: string, text: string): string[] {
  return [...findPattern(pattern).find(text, free)].map(({ start, end }) => text.slice(start, end));
}

describe('all matches of a pattern', () => {
  test.each([
    ['\\d{4}', '123456789', ['1234', '5678']],
    ['a|ab', 'abab', ['a', 'a']],
    ['ab|a', 'aba', ['ab', 'a']],
    ['"[^"]*"', 'say "a" and "b"', ['"a"', '"b"']],
    ['<.*>', '<a><b>', ['<a><b>']],
    ['<.*?>', '<a><b>', ['<a>', '<b>']],
    ['(?U)<.*>', '<a><b>', ['<a>', '<b>']],
    ['\\bcat\\b', 'cat concat cat', ['cat', 'cat']],
    ['(?m)^k=.*$', 'k=1\nx\nk=2', ['k=1', 'k=2']],
    ['x*', 'axxbx', ['xx', 'x']],
    ['a.*b|a', 'aaab a', ['aaab', 'a']],
    ['^a', 'aaa', ['a']],
    ['(?i)acc-\\d+', 'ACC-12, acc-7.', ['ACC-12', 'acc-7']],
    ['😀+', 'a😀😀b😁', ['😀😀']],
    ['a??b', 'aab', ['ab']],
    ['z', 'abc', []],
    ['(a|b)*c|b', 'abab', ['b', 'b']],
  ])('of %s in %s', (pattern, text, expected) => {
    expect(found(pattern, text)).toEqual(expected);
  });

  const part = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    'a*',
    'b+',
    'a?',
    'b*?',
    'a+?',
    '(?:a|ab)',
    '(?:b|)',
    'a{1,2}',
    '\\b',
    '$',
    '^',
  );
  const pattern = fc
    .array(fc.array(part, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((options) => options.map((parts) => parts.join('')).join('|'));
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ' '), { maxLength: 14 }).map((all) => all.join(''));

  /** The engine of the language prefers as RE2 does, for patterns that both know. Matches of nothing are left out. */
  test('are those that a backtracking engine finds', () => {
    fc.assert(
      fc.property(pattern, text, (source, of) => {
        const theirs = new RegExp(source, 'y');
        const expected: string[] = [];
        for (let at = 0; at < of.length; ) {
          theirs.lastIndex = at;
          const [whole = ''] = theirs.exec(of) ?? [];
          if (whole !== '') expected.push(whole);
          at += Math.max(1, whole.length);
        }
        expect(found(source, of)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

test('a long text costs in proportion to its length', () => {
  let [short, long] = [0, 0];
  const pattern = findPattern('(?i)acc-\\d{4,}');
  const of = (times: number) => 'ACC-12345 and ACC-12 and so on. '.repeat(times);
  for (const _ of pattern.find(of(1000), (units) => (short += units)));
  for (const _ of pattern.find(of(10_000), (units) => (long += units)));
  expect(long / short).toBeLessThan(15);
});

test('a text that makes tries long is charged for all of them', () => {
  const charge = limit(1_000_000);
  expect(() => [...findPattern('a[^b]*c|d').find(`${'a'.repeat(100_000)}d`, charge)]).toThrow('too much');
});

function limit(most: number): (units: number) => void {
  let left = most;
  return (units) => {
    left -= units;
    if (left < 0) throw new Error('too much');
  };
}

test.each([
  ['EMP-\\d+', ' \n,', 'E-5x'],
  ['the \\w+', '\n,.', ' x'],
  ['a.*b', '\n', ' ,.'],
  ['\\bcat\\b', ' \n😀', 'c'],
  ['(?m)^k=\\d$', '\n', ' ='],
  ['^a', '', ' \n'],
  ['[^x]+', '', ' \n,'],
])('a text can be cut behind what %s never matches', (pattern, breaking, others) => {
  const { breaksAfter } = findPattern(pattern).find;
  for (const character of breaking.replace('😀', ''))
    expect([character, breaksAfter?.(character)]).toEqual([character, true]);
  for (const character of `${others}\ude00`) expect([character, breaksAfter?.(character)]).toEqual([character, false]);
});

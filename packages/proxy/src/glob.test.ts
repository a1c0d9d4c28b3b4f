import { expect, test } from 'vitest';
import { compileGlob } from './glob.ts';

const rows: readonly (readonly [glob: string, text: string, is: boolean])[] = [
  ['gpt-*', 'gpt-5', true],
  ['gpt-*', 'gpt-', true],
  ['*', 'a/b', false],
  ['**', 'a/b', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['a.b', 'axb', false],
  ['😀*', '😀x', true],
  ['a*b*c', 'a1b2b3c', true],
];

for (const [glob, text, is] of rows) {
  test(`${glob} and ${text}`, () => expect(compileGlob(glob)?.test(text)).toBe(is));
}

test('a malformed glob is none', () => {
  expect(compileGlob('[a')).toBeUndefined();
  expect(compileGlob('[b-a]')).toBeUndefined();
});

// The time limit of the test is the bound.
test('no name makes a glob go back and forth', () => {
  expect(compileGlob(`${'*a'.repeat(12)}b`)?.test('a'.repeat(5000))).toBe(false);
});

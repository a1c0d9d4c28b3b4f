import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileCaptureGlob } from './capture-glob.ts';
import { compileGlob, GlobError } from './glob.ts';

const captured = (glob: string, text: string) => {
  const found = compileCaptureGlob(glob).match(text);
  return found === undefined ? undefined : Object.fromEntries(found);
};

describe('a glob with captures', () => {
  test.each([
    ['system:serviceaccount:{ns:*}:{sa:*}', 'system:serviceaccount:prod:bot', { ns: 'prod', sa: 'bot' }],
    ['spiffe://example.org/ns/{ns:*}/sa/{sa:*}', 'spiffe://example.org/ns/prod/sa/bot', { ns: 'prod', sa: 'bot' }],
    ['repo:acme/{repo:*}:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main', { repo: 'app' }],
    ['{all:**}', 'x.y-z_1', { all: 'x.y-z_1' }],
    ['{env:[a-z]*}-{n:?}', 'prod-7', { env: 'prod', n: '7' }],
    ['a{b:c}d', 'acd', { b: 'c' }],
    ['\\{a:*\\}', '{a:b}', {}],
    ['plain', 'plain', {}],
    ['*x*{n:[0-9]}', 'axbx7', { n: '7' }],
  ])('%s takes %s apart', (glob, text, expected) => expect(captured(glob, text)).toEqual(expected));

  test.each([
    ['what an id does not permit', '{ns:*}', 'a:b'],
    ['a slash, even by **', 'x{ns:**}', 'xa/b'],
    ['nothing', 'a{ns:*}', 'a'],
    ['what comes in two ways', '{a:*}-{b:*}', 'x-y-z'],
    ['what comes in two ways beside a run', '*{a:*}', 'ab'],
    ['what comes in two ways between captures', '{a:*}{b:*}', 'abc'],
    ['a foreign letter', '{a:*}', 'é'],
    ['a line break', '{a:*}', 'a\n'],
  ])('captures not %s', (_what, glob, text) => expect(captured(glob, text)).toBeUndefined());

  test.each([
    ['{x}', 0],
    ['a{:*}', 1],
    ['a{x:}', 4],
    ['a{x:*', 1],
    ['{x:*}{x:*}', 5],
    ['{1x:*}', 0],
    ['', 0],
    ['ab[', 2],
    ['{x:ab[}', 5],
  ])('%s is refused where it is wrong', (glob, offset) => {
    expect(() => compileCaptureGlob(glob)).toThrow(GlobError);
    expect(() => compileCaptureGlob(glob)).toThrow(expect.objectContaining({ offset }));
  });

  test('a text that is too long for a name does not match', () => {
    expect(captured('{a:*}/**', `x/${'y'.repeat(2046)}`)).toEqual({ a: 'x' });
    expect(captured('{a:*}/**', `x/${'y'.repeat(2047)}`)).toBeUndefined();
    expect(captured('*', 'y'.repeat(16_000))).toBeUndefined();
  });
});

/** Small alphabets, so that texts match, and in several ways. */
const piece = fc.constantFrom('a', 'b', '-', ':', '/', '*', '**', '?', '[ab]');
const part = fc.oneof(
  piece,
  fc
    .tuple(fc.constantFrom('x', 'y', 'z'), fc.array(piece, { minLength: 1, maxLength: 3 }))
    .map(([name, inner]) => `{${name}:${inner.join('')}}`),
);
const globs = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
const texts = fc.array(fc.constantFrom('a', 'b', '-', ':', '/'), { maxLength: 7 }).map((chars) => chars.join(''));

/** All ways to take a text apart, by trying them. */
function allWays(glob: string, text: string): string[] {
  const parts = glob.match(/\{[xyz]:[^}]*\}|[^{}]+/g) ?? [];
  const ways = new Set<string>();
  const go = (index: number, at: number, taken: string) => {
    const next = parts[index];
    if (next === undefined) {
      if (at === text.length) ways.add(taken);
      return;
    }
    const isCapture = next.startsWith('{');
    const { matches } = compileGlob(isCapture ? next.slice(3, -1) : next);
    for (let end = isCapture ? at + 1 : at; end <= text.length; end++) {
      const chunk = text.slice(at, end);
      if (!matches(chunk) || (isCapture && !/^[A-Za-z0-9._-]+$/.test(chunk))) continue;
      go(index + 1, end, isCapture ? `${taken}${at}-${end},` : taken);
    }
  };
  go(0, 0, '');
  return [...ways];
}

test('it matches exactly if there is one way to, and no capture holds what an id does not permit', () => {
  fc.assert(
    fc.property(globs, texts, (glob, text) => {
      let compiled;
      try {
        compiled = compileCaptureGlob(glob);
      } catch {
        return;
      }
      const found = compiled.match(text);
      expect(found !== undefined).toBe(allWays(glob, text).length === 1);
      for (const value of found?.values() ?? []) expect(value).toMatch(/^[A-Za-z0-9._-]+$/);
    }),
    { numRuns: 3000 },
  );
});

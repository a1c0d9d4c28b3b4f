import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { analyseShell } from './analyse-shell.ts';
import { joinWords } from './quote.ts';

const place = { cwd: '/workspace', home: '/home/ada' };

const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'));

test('words that are joined are split into the same words again', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      expect(analyseShell(joinWords(['command-x', ...words]), place)[0]).toMatchObject({
        command: 'command-x',
        args: words,
      });
    }),
  );
});

const pieces = [
  ...'\'"`$\\(){}[]<>|&;#!*?~=\n \t'.split(''),
  ...[
    '$(',
    '$((',
    '))',
    '${',
    '<<',
    '<<EOF',
    '\nEOF\n',
    '<<<',
    '<(',
    '&&',
    '||',
    ';;',
    '[[',
    ']]',
    "$'",
    '\\x41',
    '@P',
  ],
  ...['if', 'then', 'fi', 'for', 'in', 'do', 'done', 'case', 'esac', 'while', 'function', 'f()', 'coproc', 'time', '!'],
  ...['rm', 'sh -c', 'eval', 'xargs', 'find . -exec', 'sudo', 'env -S', 'a=', 'a=(', '{a,b}', '{1..9}', '/dev/tcp/x/1'],
  ...['\u00a0', '\u200b', '\ud800', '\0'],
];

test('no text makes it throw or stop, and every text leaves something or nothing that runs', () => {
  const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5 })), { maxLength: 40 });
  fc.assert(
    fc.property(text, (parts) => {
      const found = analyseShell(parts.join(''), place);
      expect(found.length).toBeLessThan(1000);
    }),
    { numRuns: 3000 },
  );
});

test('texts that are made to take long do not', () => {
  for (const piece of [
    '$(',
    '`',
    '"',
    '{a,',
    '((',
    '${',
    '<(',
    'a|',
    'if a; then ',
    '{1..9}{1..9}',
    "sh -c 'a' ",
    '\\',
  ]) {
    const text = piece.repeat(Math.floor(60_000 / piece.length));
    expect(analyseShell(text, place).length).toBeLessThan(1000);
  }
});

/** A word in one of the ways to quote it, and with things that no shell expands. */
const quoted = fc.oneof(
  fc.stringMatching(/^[a-z0-9@%+:,./_-]{1,8}$/),
  fc.stringMatching(/^[ -~]{0,8}$/).map((text) => `'${text.replaceAll("'", '')}'`),
  fc.stringMatching(/^[ !#%-_a-z{-~]{0,8}$/).map((text) => `"${text.replaceAll(/["`$\\]/g, '')}"`),
  fc.stringMatching(/^[ -~]{1,4}$/).map((text) => text.replaceAll(/./g, (character) => `\\${character}`)),
  fc.stringMatching(/^[a-z0-9]{0,4}$/).map((text) => `$'${text}\\x41\\t\\''`),
  fc.constantFrom(
    '"\\$x\\"\\\\"',
    '"a\\\nb"',
    '{a,b}',
    '{a,b{1,2}}c',
    '{3..1}',
    '{x',
    'a}b',
    "''",
    '""',
    'a#b',
    '"\\a"',
  ),
);
const quotedWord = fc.array(quoted, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
const line = fc.array(quotedWord, { maxLength: 5 }).map((words) => words.join(' '));

test('bash splits random simple commands into the same words', () => {
  const lines = fc
    .sample(line, { numRuns: 400 })
    .filter((text) => !/^#|[ ]#/.test(text.replaceAll(/'[^']*'|"[^"]*"/g, '')));
  const script = `show() { printf '%s\\0' "$@"; printf '\\1\\0'; }\n${lines.map((text) => `show x ${text}\n`).join('')}`;
  const { stdout, status } = spawnSync('bash', ['--noprofile', '--norc', '-f', '-c', script], { encoding: 'utf8' });
  expect(status).toBe(0);
  const split = stdout.split('\u0001\0').slice(0, -1);
  expect(split.length).toBe(lines.length);
  for (const [index, text] of lines.entries()) {
    const words = split[index]?.split('\0').slice(0, -1);
    expect(analyseShell(`show x ${text}`, place)[0], text).toMatchObject({ command: 'show', args: words });
  }
});

// The time limit of the test is the bound: these took minutes when each brace copied all words.
test('a text that is made to take long ends', () => {
  const braces = `echo ${'{a,b}'.repeat(6)}${'x'.repeat(4000)};`.repeat(16);
  for (const text of [braces, `x='${'['.repeat(65_000)}'`, 'a['.repeat(32_000), 'xargs '.repeat(10_000)]) {
    expect(analyseShell(text, place).length).toBeLessThanOrEqual(201);
  }
});

test('a text for sed or awk that is made to take long ends', () => {
  const texts = [
    `s!${'\\\\'.repeat(2000)}`,
    's!'.repeat(2000),
    ' \n'.repeat(1300),
    'print '.repeat(600),
    '/\\'.repeat(1300),
  ];
  for (const text of texts) {
    for (const program of ['sed', 'awk']) {
      expect(analyseShell(`${program} '${text}'`, place).length).toBeLessThanOrEqual(2);
    }
  }
});

import { assert, constantFrom, dictionary, letrec, oneof, property, string, stringMatching } from 'fast-check';
import { integer, array, boolean, constant } from 'fast-check';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { needsYaml, readSimpleYaml } from './simple-yaml.ts';
import { writeYaml } from './write-yaml.ts';

const value = letrec((tie) => ({
  any: oneof({ maxDepth: 4 }, tie('leaf'), tie('list'), tie('map')),
  leaf: oneof(
    string({ unit: 'grapheme', maxLength: 20 }),
    string({ unit: 'binary', maxLength: 10 }),
    constantFrom(
      'true',
      'No',
      'null',
      '~',
      '',
      ' ',
      '1',
      '1e3',
      '0x1f',
      '2026-11-15',
      '- a',
      'a: b',
      'a #b',
      '"',
      "'",
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '{}',
      '[]',
      'http://127.0.0.1:8080',
      'y',
      '.inf',
      '=',
      '__proto__',
      'a\nb',
      '---',
    ),
    integer(),
    boolean(),
    constant(null),
  ),
  list: array(tie('any'), { maxLength: 4 }),
  map: dictionary(
    oneof(stringMatching(/^[a-z_]{1,8}$/), string({ maxLength: 8 }), constantFrom('true', '1', 'a b', 'http://x:1')),
    tie('any'),
    { maxKeys: 4, noNullPrototype: true },
  ),
})).any;

test('what is written as YAML is read by a parser as what it was, whatever it is', () => {
  assert(
    property(value, (it) => {
      expect(parse(writeYaml(it))).toEqual(it);
    }),
  );
});

test('what the simple reader reads, a parser reads the same', () => {
  const line = oneof(
    stringMatching(/^ {0,4}[a-z"]{1,3}: ?[-a-zA-Z0-9"':#/.[\]{}&*!|>~]{0,6}$/),
    stringMatching(/^ {0,4}- [-a-zA-Z0-9"':#/.]{0,6}$/),
    constantFrom(
      '',
      '# comment',
      '---',
      '...',
      'a:',
      '  b: c',
      '    - d',
      '  - e',
      '\tx: y',
      'key: "a\\u0041"',
      'n: 007',
      'n: 7',
      'on: off',
      'x: 2026-11-15',
      '"q r": s',
      'a: b ',
      'x: yes',
      '? a',
      'a: "b" c',
      'a:b: c',
    ),
  );
  assert(
    property(array(line, { maxLength: 8 }), (lines) => {
      const text = lines.join('\n');
      const simple = readSimpleYaml(text);
      if (simple === needsYaml) return;
      expect(parse(text)).toEqual(simple);
    }),
    { numRuns: 3000 },
  );
});

describe('the simple reader', () => {
  test('reads what this command writes, without a parser', () => {
    const document = {
      sessions: {
        prod: {
          token: 'eyJhbGciOi.eyJz-_dWIi.c2lnbmF0dXJl',
          expires_at: 1_900_000_000,
          scopes: ['read', 'write'],
          source_key: 'rvk_abc_123',
          api_url: 'http://127.0.0.1:8080',
        },
        'http://127.0.0.1:8080': {
          token: '-starts.with.dash',
          expires_at: 0,
          scopes: [],
          source_key: '0123',
          api_url: 'https://x.example/base',
        },
      },
      empty: {},
    };
    expect(readSimpleYaml(writeYaml(document))).toEqual(document);
  });

  test.each([
    'a: {b: c}',
    'a: [b]',
    "a: 'b'",
    'a: b # c',
    'a: |\n  b',
    '- a: b',
    '? a',
    'a: &x b',
    'a: !!str b',
    '%YAML 1.2\n---\na: b',
    'a: 1.5',
    'a: 0x10',
    '\ta: b',
    'a: b\n   c: d',
    'a: b\r\nc: d',
    'a: on',
    'a: "b\\x41"',
    'a: b\na: c',
    '__proto__: a',
  ])('leaves %j to a parser', (text) => {
    expect(readSimpleYaml(text)).toBe(needsYaml);
  });
});

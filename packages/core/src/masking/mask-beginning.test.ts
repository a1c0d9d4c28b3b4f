import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginsJson } from './begins-json.ts';
import type { DetectorName } from './detectors.ts';
import { detectorNames } from './detectors.ts';
import type { FindMatches, Mask } from './mask.ts';
import type { PiecePlace } from './mask-beginning.ts';
import { maskBeginning } from './mask-beginning.ts';
import { maskResult, usualMask } from './mask-result.ts';

const free = () => {};

function mask(...detect: DetectorName[]): Mask {
  return { detect, patterns: [], fields: [], with: usualMask };
}

/** The text as it stands in the answer of a model once that is judged whole. */
function whole(text: string, masks: readonly Mask[]): string {
  const answer = JSON.stringify({ content: text });
  const masked = maskResult(answer, masks);
  if (typeof masked === 'string') throw new Error(masked);
  return (JSON.parse(masked?.text ?? answer) as { content: string }).content;
}

/** What has passed of a text that comes in these pieces, and the most that was held back at once. */
function through(pieces: readonly string[], masks: readonly Mask[]): { passed: string; held: string; most: number } {
  let [passed, held, most] = ['', '', 0];
  let place: PiecePlace = 'text';
  for (const piece of pieces) {
    held += piece;
    const { taken, text } = maskBeginning(held, place, masks, free);
    const read = held.slice(0, taken);
    passed += text ?? read;
    if (taken > 0) place = read.endsWith('\n') ? 'line' : 'within';
    held = held.slice(taken);
    most = Math.max(most, held.length);
  }
  return { passed, held, most };
}

function expectSame(pieces: readonly string[], masks: readonly Mask[]): void {
  const { passed, held } = through(pieces, masks);
  const expected = whole(pieces.join(''), masks);
  expect({ pieces, passed }).toEqual({ pieces, passed: expected.slice(0, passed.length) });
  // What is held is all that is left.
  expect(whole(held, masks).length + passed.length).toBeGreaterThanOrEqual(Math.min(expected.length, passed.length));
}

/** What detectors look for, what is nearly that, and what stands around it. */
const fragments = [
  ...[
    'ada@example.com',
    '"ada l"@example.com',
    'ada%40example.com',
    'ada',
    '@',
    'example.com',
    '"',
    "'",
    '%40',
    '张三@例子.com',
  ],
  ...[
    '4111 1111 1111 1111',
    '4111-1111-1111-111',
    '4111',
    '1111',
    '1 2 3 4 5 6 7 8',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
  ],
  ...[
    '+49 30 901820',
    '(202) 555-0143',
    '202-555-0143',
    '555 123 4567',
    '1.555.123.4567x12',
    '(555) 123-4567',
    '2125550100',
    '555-0100',
    '2024-01-15',
    '0',
    '+4 9 1 2 3 4 5 6 7',
    '(',
    ')',
    '+',
    '-',
    '/',
    '.',
  ],
  ...['DE89 3704 0044 0532 0130 00', 'DE89', 'GB29 NWBK', '6016 1331 9268 19', 'AB12 is', '078-05-1120', '219 09 9999'],
  ...['192.168.0.1', '10.0.0.1-10.0.0.9', '2001:db8::1', 'a::', '::1', ':', '1.2.3', 'fe80::1%eth0'],
  ...[
    'password: hunter2',
    'password',
    ' = ',
    ': ',
    '"two words"',
    '--token',
    'Bearer abcdefgh12345678',
    'Bearer',
    'max_tokens: 4096',
  ],
  ...[
    'Authorization: Basic abc',
    'cookie',
    'sk-abcdefghijklmnopqrstuvwx',
    'https://u:p@host/x',
    'hooks.slack.com/services/T0/x',
    'https://用:',
    '-----BEGIN RSA PRIVATE KEY-----',
  ],
  ...['-----BEGIN ', '-----END RSA PRIVATE KEY-----', 'sig=abc', "it's", 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc'],
  ...[
    '{"a":"ada@example.com"}',
    '{"n":4111111111111111}',
    '{"password":"x"}',
    '["a",',
    '[1]',
    '"quoted line"',
    '{',
    '}',
    '[',
    ']',
    ',',
  ],
  ...[
    String.raw`\u0040`,
    String.raw`\u002d`,
    String.raw`\\u0034`,
    '\\',
    String.raw`\u00`,
    String.raw`ada\u0040example.com`,
  ],
  ...['\u00a0', '\u2011', '１２３', '请联系', '你好。', '😀', '\ud83d', '\ude00', '\uFEFF', 'é', '\t', '\r\n'],
  ...['Hello', 'the', 'of a', 'word', 'x', 'No.', 'e.g.', '; ', ', ', '. '],
  ...['10:30', '12 ', '2024-01-15 ', ' '.repeat(34), ' '.repeat(31), ' '.repeat(7)],
  ...['call', 'call me on ', 'Tel. ', 'home_phone', 'no.', '="', 'number', 'is', '#', '_', '100 200 3000', '555', '- '],
  ...[' ', ' ', ' ', ' ', '  ', '\n', '\n', '\n\n'],
];
const someText = fc
  .array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 24 })
  .map((parts) => parts.join(''));
const someCuts = fc.array(fc.nat(30), { maxLength: 40 });

function cut(text: string, cuts: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const length of cuts) {
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return [...pieces, text.slice(at)];
}

describe('a text that is masked while it comes reads as the text that is masked whole', () => {
  test.each(detectorNames)('%s', (name) => {
    fc.assert(
      fc.property(someText, someCuts, (text, cuts) => expectSame(cut(text, cuts), [mask(name)])),
      { numRuns: 1500 },
    );
  });

  test('all of them at once', () => {
    fc.assert(
      fc.property(someText, someCuts, (text, cuts) => expectSame(cut(text, cuts), [mask(...detectorNames)])),
      { numRuns: 1500 },
    );
  });

  test('a Slack hook without its scheme, before another word that tells', () => {
    expectSame(['Post to hooks.slack.com/services/T0/B0/abcdef ', 'then use the token.'], [mask('secret')]);
  });

  test('a number that a word before it names, and one beside which others stand', () => {
    expectSame(['call me at ', '2125550100 or tel. ', 'no', ' 555-0100, '], [mask('phone')]);
    expectSame(['in rows: 100 ', '200 ', '3000 ', '400, ', '555 ', '123 ', '4567, '], [mask('phone')]);
    for (const gap of [29, 30, 31, 32, 33]) {
      const [blanks, figures] = [' '.repeat(gap), '555 123 4567'];
      expectSame([`x 5${blanks}`, `${figures}, `], [mask('phone')]);
      expectSame([`x ${figures}${blanks}`, '5, '], [mask('phone')]);
      expectSame([`x ${figures}${blanks}`, '-', '5, '], [mask('phone')]);
    }
  });

  test('an escape whose end has not come', () => {
    expectSame(['+4 ', '9 1 2 3 4 5 6 7 \\', 'u0034{'], [mask('phone')]);
  });

  test('patterns, behind characters that no match has in it', () => {
    const pattern = (expression: RegExp, taken: RegExp): FindMatches =>
      Object.assign(
        (text: string) =>
          [...text.matchAll(expression)].map(({ 0: found, index }) => ({ start: index, end: index + found.length })),
        { breaksAfter: (character: string) => !taken.test(character) && !/\w/.test(character) },
      );
    const masks = [{ ...mask('email'), patterns: [pattern(/\d\d+/g, /\d/), pattern(/the [a-z]+/g, /[a-z ]/)] }];
    fc.assert(
      fc.property(someText, someCuts, (text, cuts) => expectSame(cut(text, cuts), masks)),
      { numRuns: 1500 },
    );
  });
});

const prose = `The quick brown fox, as he was called in 1984, met 3 dogs at 10:30. "Well," said one of them, "that's a long way to go." `;
const chinese = '他说今天的天气很好，我们一起去公园散步吧。路上遇到了三个老朋友，大家都很高兴地聊了起来，';

describe('what nothing begins in is held for at most 256 characters', () => {
  test.each([
    ['prose', prose.repeat(30)],
    ['Chinese', chinese.repeat(30)],
    ['code', 'const a = { "b": "c", d: [1, 2, 3] };\n  return `${a.b}/${a.d}`;\n'.repeat(30)],
    ['quotes on one line', `say ${'"a": "b", '.repeat(200)}`],
    ['passwords in prose', 'Reset your password by a token, or ask for another secret of the basic plan. '.repeat(30)],
    ['digits', `the numbers ${'31 of them, '.repeat(200)}`],
    ['times of day', 'At 10:30 11:45 12:00 '.repeat(100)],
    ['nothing but times of day', '10:30 11:45 12:00 '.repeat(100)],
    ['blanks', `a table with ${' '.repeat(2000)}a wide column`],
    ['a log', '2024-01-15 10:30:00 INFO [main] started in 3.2 s (4 of 7), see src/a-b.ts:12\n'.repeat(40)],
    ['a table', '| name | 12 | 3.5 | x-y | 2024 |\n|------|----|-----|-----|------|\n'.repeat(40)],
    ['addresses of pages', 'see [this](https://example.com/a/b?c=d&e=f#g) and http://foo.test/x/y, then '.repeat(40)],
    ['Cyrillic', 'Привет, как дела? Сегодня хорошая погода. '.repeat(60)],
    ['Korean', '안녕하세요 저는 학생입니다. '.repeat(100)],
    ['emoji', '😀😃😄 '.repeat(300)],
  ])('%s', (_what, text) => {
    const pieces = text.match(/[\s\S]{1,4}/gu) ?? [];
    const { most, passed } = through(pieces, [mask(...detectorNames)]);
    expect(passed.length).toBeGreaterThan(text.length - 257);
    expect(most).toBeLessThanOrEqual(256);
  });

  test('words in any order', () => {
    const word = fc.constantFrom(
      ...[
        'Hello',
        'the',
        'of',
        'token',
        'e.g.',
        "don't",
        'x',
        '7',
        '10:30',
        '3.5',
        '42%',
        'v2',
        '(4 of 7)',
        'a-b',
        '&',
      ],
      ...[
        '`code`',
        '**bold**',
        '@ada',
        '#1',
        'é',
        '你好。',
        '😀',
        'http://a.test/b',
        'a/b.ts:12',
        '"so"',
        '=',
        '->',
        '|',
      ],
    );
    const between = fc.constantFrom(' ', ' ', ' ', ', ', '. ', '\n', '\n\n', ': ', '; ');
    fc.assert(
      fc.property(fc.array(fc.tuple(word, between), { minLength: 100, maxLength: 200 }), fc.nat(7), (words, cut) => {
        // Words that nothing follows but a word: a secret may begin behind any of them.
        const text = `So: ${words.flat().join('')}`.replaceAll(/token(?=\s*[:=])/g, 'word');
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${cut + 1}}`, 'gu')) ?? [];
        expect(through(pieces, [mask(...detectorNames)]).most).toBeLessThanOrEqual(256);
      }),
      { numRuns: 300 },
    );
  });

  test('JSON is held until it is whole', () => {
    expect(through(['{"a": "b",', ' "c": "d"}', '\n'], [mask('email')]).passed).toBe('');
    const lines = through(['Hello\n{"a": "ada@exam', 'ple.com"}\nand more'], [mask('email')]);
    expect(lines.passed).toBe(`Hello\n{"a": "${usualMask}"}\nand `);
  });

  test('a key of several lines is held until it ends', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'abcd\n'.repeat(100)}`;
    expect(through(['the key: ', key], [mask('secret')]).passed).not.toContain('BEGIN');
    const { passed } = through(
      ['the key is ', key, '-----END PRIVATE KEY-----', '\nand then ', 'more'],
      [mask('secret')],
    );
    expect(passed).toContain(`the key is ${usualMask}\nand `);
  });
});

test('what begins JSON', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{"a',
    '{"a":',
    '{"a":1',
    '{"a":1}',
    '{"a":1} ',
    '[',
    '[1,',
    '"x',
    '"x\\u00',
    'tru',
    '-',
    '[{}',
  ]) {
    expect([text, beginsJson(text)]).toEqual([text, true]);
  }
  for (const text of [
    'Hello there',
    '{a',
    '{"a" b',
    '[1 2',
    '[,',
    '{}}',
    '"x" y',
    '"a\nb',
    '{"a":1}\n{',
    '[1,]',
    '{"a",',
  ]) {
    expect([text, beginsJson(text)]).toEqual([text, false]);
  }
  fc.assert(
    fc.property(fc.json(), fc.nat(), (json, at) => {
      expect(beginsJson(json.slice(0, at % (json.length + 1)))).toBe(true);
    }),
  );
});

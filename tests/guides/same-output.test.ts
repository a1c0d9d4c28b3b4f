import { describe, expect, test } from 'vitest';
import { blocksOf, commandsOf } from './read-guide.ts';
import type { Names } from './same-output.ts';
import { differenceOf } from './same-output.ts';

const difference = (shown: string, came: string, names: Names = new Map()) => differenceOf(shown, came, names);

describe('what came is what a guide shows', () => {
  test('where only ids, times, numbers and columns differ', () => {
    expect(difference('10 entries, unbroken; hash 5662…', 'noise\n11 entries, unbroken; hash 77aa\n')).toBeUndefined();
    expect(difference('a   b1 c', 'a b2    c')).toBeUndefined();
    expect(
      difference('{"at": "2026-11-15", "n": 1, "ok": true}', '{"ok":true,"n":2,"at":"2027-01-01"}'),
    ).toBeUndefined();
    expect(
      difference('{"id":"k1","x":{…},\n "state":"paused",…}', '{"id":"k2","y":1,"state":"paused"}'),
    ).toBeUndefined();
  });

  test.each([
    ['allow  search', 'deny  search'],
    ['one\ntwo', 'two\none'],
    ['{"state": "paused"}', '{"state":"running"}'],
    ['{"state": "paused"}', '{"state":"paused","more":1}'],
    ['{"items": [{"a": 1}]}', '{"items":[]}'],
    ['{"ok": true}', '{"ok":false}'],
    ['{"state":"paused",…}', '{"state":"running","x":1}'],
    ['text', ''],
  ])('and not %j where %j came', (shown, came) => {
    expect(difference(shown, came)).toBeTypeOf('string');
  });

  test('and what stands for an id is known afterwards', () => {
    const names: Names = new Map();
    difference('operation e25081f308f9:fe79', 'operation 0a1b2c3d4e5f:0000', names);
    difference('{"token":"eyJhbGci1…"}', '{"token":"eyJhbGci9.abc"}', names);
    expect(Object.fromEntries(names)).toEqual({
      'e25081f308f9:fe79': '0a1b2c3d4e5f:0000',
      'eyJhbGci1…': 'eyJhbGci9.abc',
    });
  });
});

test('a block has the comments before it, and nothing of those before another text', () => {
  const page = [
    '<!-- not run: needs Docker -->',
    '',
    '```sh',
    'one',
    '```',
    '',
    '```text',
    'shown',
    '```',
    '',
    '<!-- first: zero -->',
    'Text.',
    '',
    '  ```sh',
    '  two',
    '  ```',
  ].join('\n');
  expect(blocksOf(page)).toMatchObject([
    { language: 'sh', text: 'one', notRun: 'needs Docker', line: 3, isAdjacent: false },
    { language: 'text', text: 'shown', notRun: undefined, isAdjacent: true },
    { language: 'sh', text: 'two', first: [], line: 14, isAdjacent: false },
  ]);
});

test('commands go on over quotes and backslashes, and end at neither comments nor blank lines', () => {
  const text = "a \\\n  b\n\n# no command, isn't it\nc '\n  d' # isn't\ne";
  expect(commandsOf(text)).toEqual(['a \\\n  b', "c '\n  d' # isn't", 'e']);
});

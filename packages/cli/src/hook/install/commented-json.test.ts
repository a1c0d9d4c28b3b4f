import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasCommentIn, parseCommented, replaceMember } from './commented-json.ts';

const text = '{\n  // mine, "hooks": 1\n  "theme": "da//rk", /* { */\n  "list": [1, {"hooks": 2},],\n}\n';

test('reads comments and trailing commas', () => {
  expect(parseCommented(text)).toEqual({ theme: 'da//rk', list: [1, { hooks: 2 }] });
  expect(() => parseCommented('{"a": }')).toThrow(SyntaxError);
});

test('adds and replaces one member, and keeps the rest to the letter', () => {
  const added = replaceMember(text, 'hooks', '{"a": [1]}');
  expect(parseCommented(added)).toEqual({ hooks: { a: [1] }, theme: 'da//rk', list: [1, { hooks: 2 }] });
  expect(added).toContain('// mine, "hooks": 1\n  "theme": "da//rk", /* { */');
  const again = replaceMember(added, 'hooks', '{}');
  expect(again).toBe(added.replace('{"a": [1]}', '{}'));
  expect(replaceMember('{}', 'hooks', '{}')).toBe('{\n  "hooks": {}}');
});

test('says whether a new value would lose a comment', () => {
  expect(hasCommentIn('{"hooks": {} /* after */}', 'hooks')).toBe(false);
  expect(hasCommentIn('{"hooks": {/* in */}}', 'hooks')).toBe(true);
});

test('works on every JSON object', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.string(), fc.jsonValue(), fc.constantFrom(undefined, 2), (before, key, value, indent) => {
      fc.pre(key !== '__proto__' && !Object.hasOwn(before, '__proto__'));
      const source = JSON.stringify(before, undefined, indent);
      expect(JSON.parse(replaceMember(source, key, JSON.stringify(value)))).toEqual(
        JSON.parse(JSON.stringify({ ...before, [key]: value })),
      );
    }),
  );
});

test('of two members with one name, the one that counts is replaced', () => {
  const changed = replaceMember('{"hooks": 1, /* two */ "hooks": 2}', 'hooks', '3');
  expect(changed).toBe('{"hooks": 1, /* two */ "hooks": 3}');
  expect(parseCommented(changed)).toEqual({ hooks: 3 });
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddText } from '../../test/odd-text.ts';
import { jsonMembers, repeatedKey, TooManyParts } from './json-members.ts';

test('the places of members are where their values stand, whatever the object and its spacing', () => {
  fc.assert(
    fc.property(fc.dictionary(oddText, fc.jsonValue()), fc.constantFrom(undefined, 1, '\t', 3), (value, indent) => {
      const text = Buffer.from(` ${JSON.stringify(value, undefined, indent)}\n`);
      const { members, end } = jsonMembers(text);
      const read = members.map(({ key, from, to }) => [key, JSON.parse(text.toString('utf8', from, to))] as const);
      expect(Object.fromEntries(read)).toEqual(JSON.parse(text.toString()));
      expect(text[end]).toBe('}'.charCodeAt(0));
      expect(text.toString('utf8', end + 1)).toBe('\n');
    }),
  );
});

test('a text in more parts than asked for is not looked through', () => {
  const count = (text: string, most: number) => () => jsonMembers(Buffer.from(text), most);
  expect(count('{"a":[1,2,3]}', 4)).not.toThrow();
  expect(count('{"a":[1,2,3,4]}', 4)).toThrow(TooManyParts);
  expect(count(String.raw`{"a":"\"\"\"\"\""}`, 4)).toThrow(TooManyParts);
});

test('no text makes it throw anything else, or run for ever', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', ' ')), (parts) => {
      try {
        jsonMembers(Buffer.from(parts.join('')));
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }),
  );
});

test.each([
  ['{"model":"a","model":"b"}', 'model'],
  [String.raw`{"model":"a","mod\u0065l":"b"}`, 'model'],
  ['{"a":{"model":1},"b":[{"model":2}],"model":3}', undefined],
  [String.raw`{"a":"\"","b":"\\","c":"\\\",\"a\":","d":1}`, undefined],
])('%s has %s twice', (text, repeated) => {
  expect(repeatedKey(jsonMembers(Buffer.from(text)))).toBe(repeated);
});

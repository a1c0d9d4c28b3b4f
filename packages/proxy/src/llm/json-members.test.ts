import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddText } from '../../test/odd-text.ts';
import { jsonMembers, repeatedKey } from './json-members.ts';

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

test.each([
  ['{"model":"a","model":"b"}', 'model'],
  [String.raw`{"model":"a","mod\u0065l":"b"}`, 'model'],
  ['{"a":{"model":1},"b":[{"model":2}],"model":3}', undefined],
  [String.raw`{"a":"\"","b":"\\","c":"\\\",\"a\":","d":1}`, undefined],
])('%s has %s twice', (text, repeated) => {
  expect(repeatedKey(jsonMembers(Buffer.from(text)))).toBe(repeated);
});

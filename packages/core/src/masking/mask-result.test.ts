import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectorNames } from './detectors.ts';
import { parseFieldPath } from './field-path.ts';
import type { Mask } from './mask.ts';
import { deepestResult, maskResult, usualMask } from './mask-result.ts';

function mask(parts: Partial<Mask>): Mask {
  return { detect: [], patterns: [], fields: [], with: usualMask, ...parts };
}

const emails = mask({ detect: ['email'] });
const fields = (...paths: string[]) => mask({ fields: paths.map(parseFieldPath) });
const masked = (text: string, ...masks: Mask[]) => {
  const result = maskResult(text, masks);
  return typeof result === 'object' ? result.text : result;
};

describe('what hides from masks', () => {
  const cards = mask({ detect: ['card'] });
  test.each([
    [
      'a card as a number',
      '{"card":4111111111111111,"n":4111111111111112}',
      '{"card":"[masked]","n":4111111111111112}',
      cards,
    ],
    ['a card as a number in a list', '[1,378282246310005]', '[1,"[masked]"]', cards],
    [
      'a field of JSON in a text',
      String.raw`{"text":"{\"ssn\": \"1\", \"a\":[1]}"}`,
      String.raw`{"text":"{\"ssn\": \"[masked]\", \"a\":[1]}"}`,
      fields('**.ssn'),
    ],
    [
      'a field of JSON in a text in a text',
      JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ ssn: 5 }) }) }),
      JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ ssn: '[masked]' }) }) }),
      fields('a.b.ssn'),
    ],
    [
      'an escape of JSON in a text',
      JSON.stringify({ a: String.raw`["ann\u0040example.com"]` }),
      JSON.stringify({ a: '["[masked]"]' }),
      emails,
    ],
    [
      'a number of JSON in a text',
      JSON.stringify(['{"card":4111111111111111}']),
      JSON.stringify(['{"card":"[masked]"}']),
      cards,
    ],
    ['a field behind a mark of the byte order', '\uFEFF{"ssn":1}', '\uFEFF{"ssn":"[masked]"}', fields('ssn')],
    ['blanks that do not break', '"4111\u00a01111\u00a01111\u00a01111"', '"[masked]"', cards],
    ['wide digits', '"４１１１１１１１１１１１１１１１"', '"[masked]"', cards],
  ])('%s', (_, text, expected, ...masks) => {
    expect(masked(text, ...masks)).toBe(expected);
  });
});

describe('texts of JSON', () => {
  test.each([
    ['{"to": "ann@example.com"}', '{"to": "[masked]"}'],
    ['{"ann@example.com" : 1}', '{"[masked]" : 1}'],
    ['[ "x", "a@b.example and c@d.example" ]', '[ "x", "[masked] and [masked]" ]'],
    ['"a@b.example"', '"[masked]"'],
    [String.raw`{"a":"x\na@b.example\t\u0041"}`, String.raw`{"a":"x\n[masked]\t\u0041"}`],
    [String.raw`{"a":"\u0061@b.example"}`, '{"a":"[masked]"}'],
    [String.raw`{"a":"a\u0040b.example"}`, '{"a":"[masked]"}'],
    [String.raw`{"a":"{\"to\":\"a@b.example\"}"}`, String.raw`{"a":"{\"to\":\"[masked]\"}"}`],
    ['{"n":1.0e3 , "a":"a@b.example", "a":"a@b.example"}', '{"n":1.0e3 , "a":"[masked]", "a":"[masked]"}'],
    ['a@b.example is no JSON', '[masked] is no JSON'],
    ['{"a":"a@b.example"', '{"a":"[masked]"'],
    ['\uFEFF"a@b.example"', '\uFEFF"[masked]"'],
  ])('%j becomes %j, and nothing else changes', (text, expected) => {
    expect(masked(text, emails)).toBe(expected);
  });

  test('the replacement is written as JSON where JSON is', () => {
    const quote = { ...emails, with: '"\\\n' };
    expect(masked('["a@b.example"]', quote)).toBe(String.raw`["\"\\\n"]`);
    expect(masked('a@b.example!', quote)).toBe('"\\\n!');
  });

  test('where nothing is found there is nothing to say', () => {
    expect(maskResult('{"a":[1,true,null,"x"]}', [emails])).toBeUndefined();
  });

  test('what is found is counted by what found it', () => {
    const text = '{"a":"a@b.example 192.0.2.1 c@d.example","b":{"c":1},"password":"x"}';
    const result = maskResult(text, [mask({ detect: ['email', 'ip', 'secret'] }), fields('b')]);
    expect(result).toEqual({
      text: '{"a":"[masked] [masked] [masked]","b":"[masked]","password":"[masked]"}',
      counts: { email: 2, ip: 1, field: 1, secret: 1 },
    });
  });

  test('a member whose name tells of a secret is replaced whole', () => {
    const secrets = mask({ detect: ['secret'] });
    expect(masked('{"api_key":["a",{"b":1}],"max_tokens":5,"token":null,"n":"x"}', secrets)).toBe(
      '{"api_key":"[masked]","max_tokens":5,"token":null,"n":"x"}',
    );
    expect(masked(String.raw`{"pass\u0077ord":"x"}`, secrets)).toBe(String.raw`{"pass\u0077ord":"[masked]"}`);
  });

  test('of several masks the first says what stands in the place of what they share', () => {
    expect(masked('"a@b.example"', { ...emails, with: '1' }, { ...emails, with: '2' })).toBe('"1"');
  });
});

describe('fields', () => {
  const text = '{"users":[{"name":"Ann","tax":{"id":7}},{"name":"Bob"}],"a.b":{"c":1},"x":[[1,2],[3]]}';
  test.each([
    ['users.0.name', text.replace('"Ann"', '"[masked]"')],
    ['users.*.name', text.replace('"Ann"', '"[masked]"').replace('"Bob"', '"[masked]"')],
    ['users.*.tax', text.replace('{"id":7}', '"[masked]"')],
    ['**.id', text.replace('"id":7', '"id":"[masked]"')],
    ['users.**', text.replace(/\[\{"name":"Ann".*?\}\](?=,"a)/, '"[masked]"')],
    ['users.**.name', text.replace('"Ann"', '"[masked]"').replace('"Bob"', '"[masked]"')],
    ['"a.b".c', text.replace('"c":1', '"c":"[masked]"')],
    ['x.0.*', text.replace('[1,2]', '["[masked]","[masked]"]')],
    ['us*', text.replace(/\[\{"name":"Ann".*?\}\](?=,"a)/, '"[masked]"')],
    ['**', '"[masked]"'],
  ])('%s', (path, expected) => {
    expect(masked(text, fields(path))).toBe(expected);
  });

  test.each(['users', 'Users.0', 'users.2', 'users.name', 'a.b', 'users.0.name.x'].slice(1))(
    '%s names nothing here',
    (path) => {
      expect(masked(text, fields(path))).toBeUndefined();
    },
  );

  test.each(['', '.', 'a.', '.a', 'a..b', '"a', '"a"b', '$.a', 'a[0]', '[0]'])('%j is no path', (path) => {
    expect(() => parseFieldPath(path)).toThrow(/missing/);
  });

  test('a path has a bounded number of names, and `**` after `**` says nothing more', () => {
    expect(() => parseFieldPath(Array(17).fill('a').join('.'))).toThrow('at most 16');
    expect(parseFieldPath(`${'**.'.repeat(40)}ssn`).steps).toEqual(parseFieldPath('**.ssn').steps);
    expect(parseFieldPath('"$.a"').steps).toEqual([{ literal: '$.a' }]);
  });
});

test('characters of two halves are never cut in two', () => {
  const halves = mask({ patterns: [(text) => [{ start: text.indexOf('\uDE00'), end: text.length }]] });
  expect(masked('"a😀"', halves)).toBe('"a[masked]"');
  expect(masked(String.raw`"a\ud83d\ude00b"`, halves)).toBe('"a[masked]"');
  const first = mask({ patterns: [() => [{ start: 0, end: 1 }]] });
  expect(masked('"😀b"', first)).toBe('"[masked]b"');
});

test('a result that is too deep cannot be judged, whatever it holds', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}"a@b.example"${']'.repeat(levels)}`;
  expect(masked(deep(deepestResult), emails)).toContain('"[masked]"');
  expect(masked(deep(deepestResult + 1), emails)).toBe('too deep');
});

test('whatever the JSON, it stays JSON, all that is found is gone, and the rest is as it was', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a@b.example', 'x 4111 1111 1111 1111 y', '::1', 'password=hunter22', '😀a@b.example'),
  );
  const value = fc.jsonValue({ maxDepth: 4 });
  const all = mask({ detect: [...detectorNames] });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, value, text)), fc.constantFrom(0, 1, 2), (parts, indent) => {
      const json = JSON.stringify(parts, null, indent);
      const result = maskResult(json, [all]);
      if (result === undefined) return;
      if (result === 'too deep') throw new Error(result);
      expect(() => JSON.parse(result.text) as unknown).not.toThrow();
      for (const secret of ['a@b.example', '4111 1111 1111 1111', 'hunter22'])
        expect(result.text).not.toContain(secret);
      // The parts between the masks are parts of what was sent, in its order.
      let at = 0;
      for (const part of result.text.split(usualMask)) {
        const found = json.indexOf(part, at);
        expect(found).toBeGreaterThanOrEqual(0);
        at = found + part.length;
      }
    }),
    { numRuns: 300 },
  );
});

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
    ['a card as a fraction', '[4111111111111111.0, 4111111111111111.5]', '["[masked]", "[masked]"]', cards],
    ['a card with an exponent', '[4.111111111111111e15,411111111111111.1E+1]', '["[masked]","[masked]"]', cards],
    ['a card that is the whole result', '4111111111111111', '"[masked]"', cards],
    ['a card below zero', '[-4111111111111111]', '["[masked]"]', cards],
    [
      'JSON in a text that is itself a text',
      JSON.stringify([String.raw`"a\u0040b.example"`]),
      JSON.stringify(['"[masked]"']),
      emails,
    ],
    [
      'an escape in a text that is no JSON',
      String.raw`x a\u0040b.example \u0041`,
      String.raw`x [masked] \u0041`,
      emails,
    ],
    ['an escape of an escape', String.raw`{"a":"x a\\u0040b.example"}`, '{"a":"x [masked]"}', emails],
    [
      'an escape that ends a line, in lines of JSON',
      String.raw`{"m":"x\na@b.example"}` + '\n{}',
      String.raw`{"m":"x\n[masked]"}` + '\n{}',
      emails,
    ],
    ['an address in letters of two halves', '"x 𝒂𝒃@b.example"', '"x [masked]"', emails],
    ['an address in quotes', String.raw`{"a":"to \"john doe\"@b.example"}`, '{"a":"to [masked]"}', emails],
    ['an escape in lines of JSON', '{"m":"a\\u0040b.example"}\n{}', '{"m":"[masked]"}\n{}', emails],
    [
      'fields in lines of JSON',
      '{"ssn":"1"}\n\n{"ssn":2,"b":3}\n',
      '{"ssn":"[masked]"}\n\n{"ssn":"[masked]","b":3}\n',
      fields('**.ssn'),
    ],
    [
      'JSON after a line of a log',
      'done in 3 s\r\n{"ssn":"1"}\r\n',
      'done in 3 s\r\n{"ssn":"[masked]"}\r\n',
      fields('ssn'),
    ],
    ['wide digits', '"４１１１１１１１１１１１１１１１"', '"[masked]"', cards],
  ])('%s', (_, text, expected, ...masks) => {
    expect(masked(text, ...masks)).toBe(expected);
  });
});

test('numbers that are no cards stay', () => {
  const numbers = '[-12.5e3,1e999,0.4111111111111111,4111111111111112.0]';
  expect(maskResult(numbers, [mask({ detect: ['card'] })])).toBeUndefined();
});

describe('fields in what is nearly JSON', () => {
  test.each([
    'x {"ssn":1}',
    '{"ssn":1,}',
    '{"ssn":NaN}',
    '{"ssn":1',
    "{'ssn':1}",
    '{ssn:1}',
    '{\n"ssn":1,\n}',
    '{"ssn":1}{"ssn":2}',
    'data: {"ssn":1}',
    '{\\"ssn\\":1}',
    JSON.stringify(['{"ssn":1,}']),
  ])('%j cannot be masked, and does not pass', (text) => {
    expect(maskResult(text, [fields('**.ssn')])).toBe('not JSON');
  });

  test.each([
    'a text',
    'see [1] and {this}',
    'if (x) { return; }',
    '3 items: [a, b]',
    '',
    '{"a":1,}',
    JSON.stringify(['see {this}']),
  ])('%j has no such member, and passes', (text) => {
    expect(maskResult(text, [fields('**.ssn')])).toBeUndefined();
  });

  test('other masks need no members', () => {
    expect(masked('x {"to":"a@b.example"}', emails)).toBe('x {"to":"[masked]"}');
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

  test('equal names and texts are looked at once, and replaced wherever they stand', () => {
    const item = '{"a@b.de":"write to c@d.fr","n":"ü😀 e@f.io","x":"\\u0041 g@h.eu","card":4111111111111111}';
    const inner = JSON.stringify(`[${item},${item}]`);
    const result = maskResult(`[${item}, ${item},${inner},${inner}]`, [mask({ detect: detectorNames })]);
    const left = '{"[masked]":"write to [masked]","n":"ü😀 [masked]","x":"\\u0041 [masked]","card":"[masked]"}';
    const leftInner = JSON.stringify(`[${left},${left}]`);
    expect(result).toEqual({
      text: `[${left}, ${left},${leftInner},${leftInner}]`,
      counts: { email: 24, card: 6 },
    });
  });

  test('whatever repeats, each is replaced as if it stood alone', () => {
    const part = fc.constantFrom('a@b.de', 'n', '4111 1111 1111 1111', '\\', '"', '😀', '{', '[1]', 'ü', ' ', 'key');
    const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
    const all = [mask({ detect: detectorNames })];
    const alone = (value: object) => {
      const found = maskResult(JSON.stringify(value), all);
      return typeof found === 'object' ? found.text : JSON.stringify(value);
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 3 }), (pairs) => {
        const values = [...pairs, ...pairs].map(([name, value]) => ({ [name]: value, list: [value] }));
        const found = maskResult(JSON.stringify(values), all);
        const together = typeof found === 'object' ? found.text : JSON.stringify(values);
        expect(together).toBe(`[${values.map(alone).join(',')}]`);
      }),
    );
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
  expect(masked(JSON.stringify([deep(deepestResult + 1)]), emails)).toBe('too deep');
  expect(masked(`{}\n${deep(deepestResult + 1)}`, emails)).toBe('too deep');
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
      if (typeof result === 'string') throw new Error(result);
      expect(() => JSON.parse(result.text) as unknown).not.toThrow();
      for (const secret of ['a@b.example', '4111 1111 1111 1111', 'hunter22'])
        expect(result.text).not.toContain(secret);
      // The parts between the masks are parts of what was sent, in its order. A number becomes a text, with quotes.
      let at = 0;
      for (const part of result.text.split(/"?\[masked\]"?/)) {
        const found = json.indexOf(part, at);
        expect(found).toBeGreaterThanOrEqual(0);
        at = found + part.length;
      }
    }),
    { numRuns: 300 },
  );
});

test('a quote of one text belongs to no address in another', () => {
  const masked = maskResult(JSON.stringify(['say "x', 'y"@example.com', 'z']), [mask({ detect: ['email'] })]);
  expect(
    JSON.parse((masked as { text: string } | undefined)?.text ?? '["say \\"x","y\\"@example.com","z"]'),
  ).toHaveLength(3);
});

test('what is found in a text does not depend on other texts', () => {
  const all = mask({ detect: ['phone', 'card', 'ip'] });
  for (const text of ['+4 9 1 2 3 4 5 6 7', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', 'a::']) {
    expect(maskResult(JSON.stringify([text]), [all])).toMatchObject({ text: `["${usualMask}"]` });
  }
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from './json-body.ts';

function parse(text: string): unknown {
  return parseJsonBody(Buffer.from(text));
}

const refused = expect.objectContaining({ code: 'malformed_json' });

describe('a JSON body', () => {
  test('is what JSON.parse makes of it, whatever it holds', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.nat({ max: 3 }), (text, indent) => {
        const value = JSON.parse(text) as unknown;
        expect(parse(JSON.stringify(value, null, indent))).toEqual(value);
      }),
    );
  });

  test('that is empty is absent', () => {
    expect(parse('')).toBeUndefined();
  });

  test('may start with a byte order mark', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test('may hold braces, quotes, colons and backslashes in its texts', () => {
    for (const text of ['{"a":1,"a":2}', '{{{{', '"":""', '\\', '\\"', ':', '[[[[', '\\\\"a":1,"a":2']) {
      expect(parse(JSON.stringify({ first: text, second: [text, text], [text]: { [text]: text } }))).toBeDefined();
    }
  });

  test('may have the same name in several objects, and the same text several times in a list', () => {
    expect(parse('{"a":{"a":{"a":["a","a"]}},"b":{"a":1},"c":["a",{"a":1},{"a":1}]}')).toBeDefined();
  });

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"x":{"a":1,"a":2}}',
    '[{"a":1},{"a":1,"a":2}]',
    '{"a":1 , "\\u0061" : 2}',
    '{"é":1,"\\u00e9":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":"x","a" \n\t\r :"y"}',
    '{"a":{"b":1},"a":{"b":1}}',
  ])('with a member twice, %s, is refused', (text) => {
    expect(() => parse(text)).toThrow(refused);
  });

  test('is refused exactly where a member is there twice', () => {
    const member = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '"a"', '[]', '{"a":1}'));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), (members) => {
        const names = members.map(([name]) => name);
        const text = `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
        if (new Set(names).size === names.length) expect(parse(text)).toBeDefined();
        else expect(() => parse(text)).toThrow(refused);
      }),
    );
  });

  test.each([
    [64, true],
    [65, false],
    [10_000, false],
    [500_000, false],
  ])('nested %i deep is accepted: %s', (depth, accepted) => {
    for (const text of ['['.repeat(depth) + ']'.repeat(depth), `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`]) {
      if (accepted) expect(parse(text)).toBeDefined();
      else expect(() => parse(text)).toThrow(refused);
    }
  });

  test('holds at most a thousand members or elements in one place near its top, and any number further in', () => {
    const list = (length: number) => `[${Array.from({ length }, () => '0').join()}]`;
    const object = (length: number) => `{${Array.from({ length }, (_, at) => `"m${at}":0`).join()}}`;
    const tooMany = expect.objectContaining({ code: 'validation_failed' });
    for (const make of [list, object]) {
      expect(parse(make(1000))).toBeDefined();
      expect(parse(`{"a":${make(1000)}}`)).toBeDefined();
      expect(parse(`{"a":{"b":${make(5000)}}}`)).toBeDefined();
      expect(() => parse(make(1001))).toThrow(tooMany);
      expect(() => parse(`{"a":${make(1001)}}`)).toThrow(tooMany);
    }
    for (const unfinished of ['{"a', '{"a\\', '["', '{"a":"', '"']) expect(() => parse(unfinished)).toThrow(refused);
  });

  test('that is no JSON is refused without a word of what it holds', () => {
    for (const text of [
      '{',
      '{"password":"hunter2"',
      "{'a':1}",
      'undefined',
      '01',
      '[1,]',
      '\u0000',
      '{"a":\t\u0001}',
    ]) {
      expect(() => parse(text)).toThrow(refused);
      expect(() => parse(text)).not.toThrow(/hunter2/);
    }
  });

  test('that is not UTF-8 is refused', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0xfe, 0xff, 0x00, 0x31],
    ]) {
      expect(() => parseJsonBody(Buffer.from(bytes))).toThrow(refused);
    }
  });
});

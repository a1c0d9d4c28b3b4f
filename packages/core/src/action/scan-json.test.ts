import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanJson } from './scan-json.ts';

const unlimited = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY };

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('a scan accepts what JSON.parse accepts, and nothing else', () => {
  const damaged = fc.tuple(fc.json({ maxDepth: 5 }), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, other]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + other + text.slice(place + 1);
  });
  const pieces = fc.constantFrom(
    ...'{}[],:"\\ \n0-1.5eE+tfn'.split(''),
    'true',
    'null',
    '"a"',
    '\\u00e9',
    '\\u12',
    '\u0007',
  );
  const jumble = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.json({ maxDepth: 6 }), damaged, jumble), (text) => {
      expect([text, scanJson(text, unlimited) !== 'malformed']).toEqual([text, isJson(text)]);
    }),
    { numRuns: 20_000 },
  );
});

test.each([
  ['1', 1],
  ['[]', 1],
  ['[1,2,[3]]', 5],
  ['{"a":{"b":null},"c":"d"}', 4],
  [' [ { } , "x" ] ', 3],
])('%s holds %i values', (text, values) => {
  expect(scanJson(text, unlimited)).toBe(values);
});

test('it ends where it is too deep or there is too much', () => {
  expect(scanJson('['.repeat(500_000) + ']'.repeat(500_000), unlimited)).toBe(500_000);
  expect(scanJson('['.repeat(500_000), unlimited)).toBe('malformed');
  expect(scanJson('[[[1]]]', { depth: 3, values: 10 })).toBe(4);
  expect(scanJson('[[[[]]]]', { depth: 3, values: 10 })).toBe(4);
  expect(scanJson('[[[[1]]]]', { depth: 3, values: 10 })).toBe('too deep');
  expect(scanJson('[1,2,3,x', { depth: 3, values: 3 })).toBe(4);
});

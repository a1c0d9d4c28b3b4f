import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from './canonical-json.ts';
import { canonicalJson } from './canonical-json.ts';

/** Follows RFC 8785, section 3.2, step by step, without `JSON.stringify`. */
function reference(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return referenceNumber(value);
  if (typeof value === 'string') return referenceString(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => reference(item)).join(',')}]`;
  const members = Object.entries(value as Record<string, Json>);
  members.sort(([a], [b]) => compareCodeUnits(a, b));
  return `{${members.map(([name, member]) => `${referenceString(name)}:${reference(member)}`).join(',')}}`;
}

/** Section 3.2.2.3: as ECMAScript writes it; minus zero is zero. */
function referenceNumber(value: number): string {
  return String(Object.is(value, -0) ? 0 : value);
}

/** Section 3.2.2.2. */
function referenceString(value: string): string {
  const short: Record<string, string> = {
    '\b': '\\b',
    '\t': '\\t',
    '\n': '\\n',
    '\f': '\\f',
    '\r': '\\r',
    '"': '\\"',
    '\\': '\\\\',
  };
  let text = '';
  for (const char of value) {
    const code = char.codePointAt(0) ?? 0;
    if (short[char] !== undefined) text += short[char];
    else if (code < 0x20) text += `\\u${code.toString(16).padStart(4, '0')}`;
    else text += char;
  }
  return `"${text}"`;
}

/** Section 3.2.3. */
function compareCodeUnits(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const wellFormed = fc.string({ unit: 'binary', maxLength: 8 });
const someJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    wellFormed,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(wellFormed, fc.nat().map(String), fc.constant('__proto__')), tie('json'), { maxKeys: 5 }),
  ),
})).json;

test('agrees with the RFC followed step by step', () => {
  fc.assert(
    fc.property(someJson, (value) => {
      expect(canonicalJson(value)).toBe(reference(value));
    }),
    { numRuns: 1000 },
  );
});

test('is stable: what was read back is written the same', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const once = canonicalJson(JSON.parse(text) as Json);
      expect(canonicalJson(JSON.parse(once) as Json)).toBe(once);
    }),
    { numRuns: 500 },
  );
});

test('orders members that look like integers as the texts they are', () => {
  expect(canonicalJson({ b: 1, '10': 2, '9': 3, '-1': 4, '1': 5 })).toBe('{"-1":4,"1":5,"10":2,"9":3,"b":1}');
});

describe("the RFC's examples", () => {
  test('section 3.2.2: literals, numbers and strings', () => {
    const input = {
      // The source text of the RFC, as JSON parses it.
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001] as number[],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('section 3.2.3: members in the order of their UTF-16 code units', () => {
    const input = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const names = Object.values(JSON.parse(canonicalJson(input)) as Record<string, string>);
    // JSON.parse always puts `1` first, so the test also looks at the text itself.
    expect(names.filter((name) => name !== 'One')).toEqual([
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
    expect(canonicalJson(input)).toMatch(/^\{"\\r":"Carriage Return","1":"One","\u0080":"Control"/);
  });

  test.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [-1.7976931348623157e308, '-1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [-9007199254740992, '-9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1e23, '1e+23'],
    [1.0000000000000001e23, '1.0000000000000001e+23'],
    [999999999999999700000, '999999999999999700000'],
    [999999999999999900000, '999999999999999900000'],
    [1e21, '1e+21'],
    [9.999999999999997e-7, '9.999999999999997e-7'],
    [0.000001, '0.000001'],
    [333333333.3333332, '333333333.3333332'],
    [333333333.33333325, '333333333.33333325'],
    [333333333.3333333, '333333333.3333333'],
    [333333333.3333334, '333333333.3333334'],
    [333333333.33333343, '333333333.33333343'],
    [-0.0000033333333333333333, '-0.0000033333333333333333'],
    [1424953923781206.2, '1424953923781206.2'],
  ])('appendix B: %d', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });
});

describe('lone surrogates, which the RFC does not admit', () => {
  const anyText = fc.string({
    unit: fc.constantFrom('\ud800', '\udc00', '\ud83d', '\ue000', '\uffff', 'a', '\ufffd'),
    maxLength: 4,
  });

  test('become U+FFFD, in texts and in names', () => {
    expect(canonicalJson('a\ud800b')).toBe('"a\ufffdb"');
    expect(canonicalJson({ '\udc00': 1 })).toBe('{"\ufffd":1}');
  });

  test('leave a text that is canonical when it is read back, whatever names they stand in', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.nat(), { maxKeys: 6 }), (value) => {
        const text = canonicalJson(value);
        expect(reference(JSON.parse(text) as Json)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

test('leaves out members that are undefined', () => {
  const value = { a: undefined, b: 1 } as unknown as Json;
  expect(canonicalJson(value)).toBe('{"b":1}');
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerScan } from './answer-scan.ts';

function scanned(text: string, cuts: readonly number[] = []): AnswerScan {
  const scan = new AnswerScan(['content', 'text']);
  const bytes = Buffer.from(text);
  let from = 0;
  for (const cut of cuts.map((each) => each % (bytes.length + 1)).toSorted((one, other) => one - other)) {
    scan.push(bytes.subarray(from, cut));
    from = cut;
  }
  scan.push(bytes.subarray(from));
  return scan;
}

describe('the scan of an answer', () => {
  it.each([
    ['{"choices":[{"message":{"role":"assistant","content":"hello"}}],"usage":{"a":1}}', 5, { a: 1 }],
    ['{"usage":{"a":{"b":[1,"}"]}},"text":"x","other":"yy","content":["no"]}', 1, { a: { b: [1, '}'] } }],
    ['{"content":"a \\" b","x":{"usage":{"a":1}}}', 6, undefined],
    ['{"usage":null,"content":null}', 0, undefined],
    ['{"usage":{"a":1},"usage":{"a":2}}', 0, { a: 2 }],
    ['[{"usage":{"a":1}}]', 0, undefined],
    ['data: {"delta":{"text":"ab"}}\n\ndata: [DONE]\n\n', 2, undefined],
  ])('%s', (text, bytes, usage) => {
    expect([scanned(text).textBytes, scanned(text).usage]).toEqual([bytes, usage]);
  });

  it('keeps no report that is too long to be one', () => {
    expect(scanned(`{"usage":{"a":"${'x'.repeat(70_000)}"}}`).usage).toBeUndefined();
  });

  it('is the same however the answer is cut', () => {
    const answer = fc.record({
      content: fc.string(),
      list: fc.array(fc.record({ text: fc.string(), other: fc.jsonValue() })),
      usage: fc.jsonValue(),
    });
    fc.assert(
      fc.property(answer, fc.array(fc.nat()), (value, cuts) => {
        const text = JSON.stringify(value);
        const scan = scanned(text, cuts);
        const isObject = typeof value.usage === 'object' && value.usage !== null && !Array.isArray(value.usage);
        expect(scan.usage).toEqual(isObject ? (JSON.parse(text) as typeof value).usage : undefined);
        expect(scan.textBytes).toBe(scanned(text).textBytes);
      }),
    );
  });
});

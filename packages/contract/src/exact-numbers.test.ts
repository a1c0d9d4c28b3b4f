import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { inexactNumbersIn, isExactNumber, numberFaultIn } from './exact-numbers.ts';

interface Cases {
  readonly exact: readonly string[];
  readonly inexact: readonly string[];
  readonly documents: readonly { readonly json: string; readonly inexact: string | null }[];
}

/** The table that every language is held against. */
const cases = JSON.parse(
  readFileSync(new URL('../../../tests/exact-numbers/cases.json', import.meta.url), 'utf8'),
) as Cases;

test.each(cases.exact)('%s survives', (number) => {
  expect(isExactNumber(number)).toBe(true);
  expect(numberFaultIn(`{"n":${number}}`)).toBeUndefined();
});

test.each(cases.inexact)('%s does not survive', (number) => {
  expect(isExactNumber(number)).toBe(false);
  expect(inexactNumbersIn(`[1,${number}]`)).toEqual(new Set([number]));
  expect(numberFaultIn(`[1,${number}]`)).toMatch(/^the number .* send it as a text$/);
});

describe('a document', () => {
  it.each(cases.documents)('$json: $inexact', ({ json, inexact }) => {
    const [first = null] = inexactNumbersIn(json);
    expect(first).toBe(inexact);
    expect(numberFaultIn(json) !== undefined).toBe(inexact !== null);
  });

  it('that JavaScript wrote has no such number', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(numberFaultIn(json)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('is read in a time that grows with its length, however its numbers are written', () => {
    for (const long of [`1${'0'.repeat(4_000_000)}1`, `0.${'0'.repeat(4_000_000)}1`, `"${'\\'.repeat(4_000_000)}"`]) {
      expect(inexactNumbersIn(`[${long},1e400]`)).toContain('1e400');
    }
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Charge } from '../kernel/glob.ts';
import { decisionCost } from '../policy/index.ts';
import { advance, isNamed, parseFieldPath, startOf } from './field-path.ts';
import type { Mask } from './mask.ts';
import { maskResult, usualMask } from './mask-result.ts';

const free: Charge = () => {};

/** What a mask of these fields charges for a result. */
function chargeOf(text: string, fields: readonly string[]): number {
  let charged = 0;
  const mask: Mask = { detect: [], patterns: [], fields: fields.map(parseFieldPath), with: usualMask };
  maskResult(text, [mask], (units) => {
    charged += units;
  });
  return charged;
}

test('the longest name costs what a glob does with it, for each glob', () => {
  const text = JSON.stringify({ ['a'.repeat(6000)]: 1 });
  const glob = (nth: number) => `*${'a'.repeat(200)}b${nth}*`;
  const one = chargeOf(text, [glob(0)]);
  expect(one).toBeGreaterThan(decisionCost + 8 * text.length);
  expect(chargeOf(text, [glob(0), glob(1)])).toBeGreaterThan(1.9 * one);
});

test('a long name costs something for each of its letters, whatever it is held against', () => {
  const name = 'a'.repeat(64_000);
  const text = JSON.stringify({ [name]: 1 });
  const beside = chargeOf(text, ['x']);
  expect(chargeOf(text, ['a*x*'])).toBeGreaterThan(beside + 1000);
  expect(chargeOf(text, [`${name.slice(1)}b`])).toBeGreaterThanOrEqual(beside + 1000);
});

describe('many ways through many paths', () => {
  const paths = Array.from({ length: 50 }, (_, nth) => `${'**.*.'.repeat(7)}z${nth}`);

  test('each path is held against a name once', () => {
    let progress = startOf(paths.map(parseFieldPath));
    for (let depth = 0; depth < 40; depth++) progress = advance(progress, 'a', free);
    expect(progress.length).toBe(paths.length);
  });

  test('the price of a name grows with the paths, and not with the ways', () => {
    const text = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
    const few = chargeOf(text, paths.slice(0, 25));
    const all = chargeOf(text, paths);
    expect(all / few).toBeLessThan(2.1);
    expect(all).toBeGreaterThan(40 * paths.length);
  });
});

test('a path names what its steps say, one after the other', () => {
  const name = fc.constantFrom('a', 'b', 'ab');
  const step = fc.constantFrom('a', 'b', '*', '**', 'a*');
  const names = (steps: readonly string[], way: readonly string[]): boolean => {
    const [first, ...rest] = steps;
    if (first === undefined) return way.length === 0;
    if (first === '**' && names(rest, way)) return true;
    const [here, ...further] = way;
    if (here === undefined) return false;
    if (first === '**') return names(steps, further);
    const isTaken = first === '*' || first === here || (first === 'a*' && here.startsWith('a'));
    return isTaken && names(rest, further);
  };
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 16 }), fc.array(name, { maxLength: 20 }), (steps, way) => {
      const start = startOf([parseFieldPath(steps.join('.'))]);
      const end = way.reduce((progress, each) => advance(progress, each, free), start);
      expect(isNamed(end)).toBe(names(steps, way));
    }),
    { numRuns: 500 },
  );
});

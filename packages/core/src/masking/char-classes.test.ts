import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClassedText, classes } from './char-classes.ts';

const { digit, blank, dash } = classes;

test('runs are those that an expression finds', () => {
  const unit = fc.constantFrom('1', '2', ' ', '-', 'a', '.', '１', '😀');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (random, shortest) => {
      const text = `${random}@`;
      const found: string[] = [];
      new ClassedText(text).eachRun(digit | blank | dash, shortest, (start, end) => found.push(text.slice(start, end)));
      expect(found).toEqual([...text.matchAll(/[\d -]+/g)].map(([run]) => run).filter((run) => run.length >= shortest));
    }),
  );
});

test('beyond its ends, a text has nothing', () => {
  const text = new ClassedText('1@1');
  expect([-1, 0, 1, 2, 3].map((at) => text.is(digit, at))).toEqual([false, true, false, true, false]);
});

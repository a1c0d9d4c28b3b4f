import { expect, test } from 'vitest';
import { remembering } from './remembering.ts';

function counted(longest: number, isKept?: (text: string, made: string) => boolean) {
  const made: string[] = [];
  const make = (text: string) => {
    made.push(text);
    return text.toUpperCase();
  };
  return { made, of: remembering(make, isKept === undefined ? { longest } : { longest, isKept }) };
}

test('what comes again is made once', () => {
  const { made, of } = counted(10);
  expect([of('a'), of('b'), of('a')]).toEqual(['A', 'B', 'A']);
  expect(made).toEqual(['a', 'b']);
});

test('long texts, and what may not be kept, are made each time', () => {
  const { made, of } = counted(3, (text) => text !== 'no');
  for (const text of ['long', 'long', 'no', 'no', 'yes', 'yes']) expect(of(text)).toBe(text.toUpperCase());
  expect(made).toEqual(['long', 'long', 'no', 'no', 'yes']);
});

test('callers who choose ever new texts do not fill the memory', () => {
  const { made, of } = counted(10);
  for (let round = 0; round < 2; round++) for (let next = 0; next < 5000; next++) of(String(next));
  expect(made.length).toBe(10_000);
});

import type { Range } from '../kernel/index.ts';

/** Areas 000, 666 and 900 to 999, groups 00 and serials 0000 are never given out. */
const number = /(?<![\w-])(?!000|666|9)\d{3}([ -])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/g;

/** Social security numbers of the United States, with their separators. Nine digits alone may be anything. */
export function* detectUsSsns(text: string): Generator<Range> {
  for (const { 0: found, index } of text.matchAll(number)) yield { start: index, end: index + found.length };
}

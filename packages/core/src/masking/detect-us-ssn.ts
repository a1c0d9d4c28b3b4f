import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

/** Areas 000, 666 and 900 to 999, groups 00 and serials 0000 are never given out. */
const number = /(?<![\w-])(?!000|666|9)\d{3}([ -])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/y;
const length = 11;
const { digit, blank, dash } = classes;

/** Social security numbers of the United States, with their separators. Nine digits alone may be anything. */
export function detectUsSsns(text: ClassedText): readonly Range[] {
  const found: Range[] = [];
  text.eachRun(digit | blank | dash, length, (first, last) => {
    for (let start = first; last - start >= length; start++) {
      if (!text.is(blank | dash, start + 3) || !text.is(blank | dash, start + 6)) continue;
      number.lastIndex = start;
      if (!number.test(text.text)) continue;
      found.push({ start, end: start + length });
      start += length - 1;
    }
  });
  return found;
}

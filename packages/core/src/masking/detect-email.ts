import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

const { digit, letter, dash, point } = classes;
const [longestLocal, longestDomain, longestLabel] = [64, 253, 63];
/** Half of a letter counts as one. A slash, a question mark, an equals sign and an ampersand may be in an address, and hardly are: they are those of a URL. */
const localPart = /[\p{L}\p{N}\p{Cs}.!#$%'*+^_`{|}~-]/u;
const domainPart = /[\p{L}\p{N}.-]/u;
/** Quotes and marks before an address are no part of it. */
const mark = /[.!#$%'*^`{|}~]/;
const label = /^[\p{L}\p{N}-]{1,63}$/u;
/** The last label has letters only, or is written in the ASCII form of other letters. */
const lastLabel = /^(?:xn--[a-z0-9-]{2,59}|\p{L}{2,63})/iu;
const signs = ['@', '%40'];

/** Email addresses, also as they are written in a URL. It looks at most 64 characters back and 253 ahead. */
export function detectEmails(classed: ClassedText): readonly Range[] {
  const { text } = classed;
  const found: Range[] = [];
  for (const sign of signs) {
    let after = 0;
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const start = startOf(classed, at, after);
      const end = start === at ? undefined : endOf(classed, at + sign.length);
      if (end === undefined) continue;
      after = end;
      found.push({ start, end });
    }
  }
  return found;
}

function startOf(classed: ClassedText, sign: number, after: number): number {
  const { text } = classed;
  const first = Math.max(after, sign - longestLocal);
  const quote = text.charAt(sign - 1) === '"' ? text.lastIndexOf('"', sign - 2) : -1;
  // What is quoted ends with its line.
  if (quote >= first && quote < sign - 2 && !text.slice(quote, sign).includes('\n')) return quote;
  let start = sign;
  while (start > first && isIn(classed, localPart, start - 1)) start--;
  while (start < sign && !classed.is(letter, start) && mark.test(text.charAt(start))) start++;
  return start;
}

/** Whether a character is one that the expression has, as it has all letters, digits, points and dashes. */
function isIn(classed: ClassedText, expression: RegExp, at: number): boolean {
  return classed.is(letter | digit | point | dash, at) || expression.test(classed.text.charAt(at));
}

function endOf(classed: ClassedText, start: number): number | undefined {
  const { text } = classed;
  const most = Math.min(text.length, start + longestDomain);
  let found: number | undefined;
  for (let from = start; ; ) {
    let [to, isPlain] = [from, true];
    for (; to < most && !classed.is(point, to) && isIn(classed, domainPart, to); to++) {
      if (!classed.is(letter, to)) isPlain = false;
    }
    const length = to - from;
    if (!isPlain || length < 2 || length > longestLabel) {
      const part = text.slice(from, to);
      const last = from === start ? undefined : lastLabel.exec(part)?.[0];
      if (last !== undefined) found = from + last.length;
      if (!label.test(part) || part.startsWith('-') || part.endsWith('-')) return found;
    } else if (from > start) found = to;
    if (to >= most || !classed.is(point, to)) return found;
    from = to + 1;
  }
}

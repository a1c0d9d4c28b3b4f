import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

/** Digits with what people write between them. It enters each run from its beginning only. */
const candidate = /(?<![\w.+-])(?:\+|\()?\d[\d ()/.-]{6,30}\d(?![\w-]|\.\d)/y;
const { digit, letter, blank, dash, bracket, point, sign } = classes;
const written = digit | blank | dash | bracket | point;
/** A number that begins behind one of them is part of something else. */
const goesOn = digit | letter | dash | point | sign;
const [shortest, fewest, most] = [8, 8, 15];
const plus = 0x2b;
const northAmerican = /^(?:1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}$/;
const national = /^\(?0[1-9]\d{0,4}\)?(?:[ /-]\(?\d{2,8}\)?){1,5}$/;
/** Dates that stand beside a number. */
const dateBefore = /^(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})[ -]+/;
const dateAfter = /[ -](?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})$/;
/** What separates the parts of a date. */
const inDates = dash | bracket | point;
const date = /^\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4}/;

/** Phone numbers: with a country's prefix, of North America, or with the 0 that other countries dial first. */
export function detectPhones(text: ClassedText): readonly Range[] {
  const found: Range[] = [];
  text.eachRun(written, shortest, (first, last) => {
    const hasPlus = text.text.charCodeAt(first - 1) === plus;
    for (let at = hasPlus ? first - 1 : first; last - at >= shortest; at++) {
      const end = mayBegin(text, at) ? endOf(text, at) : undefined;
      if (end === undefined) continue;
      const number = phoneIn(text, at, end);
      if (number !== undefined) found.push(number);
      at = end - 1;
    }
  });
  return found;
}

function mayBegin(text: ClassedText, at: number): boolean {
  if (text.is(goesOn, at - 1)) return false;
  return text.is(digit, at) || (text.is(digit, at + 1) && /[+(]/.test(text.text.charAt(at)));
}

function endOf(text: ClassedText, start: number): number | undefined {
  candidate.lastIndex = start;
  return candidate.test(text.text) ? candidate.lastIndex : undefined;
}

function phoneIn(text: ClassedText, at: number, end: number): Range | undefined {
  const count = digitsIn(text, at, end);
  // Without the dates there are fewer.
  if (count < fewest) return undefined;
  const found = text.text.slice(at, end);
  const before = [1, 2, 4].some((nth) => text.is(inDates, at + nth)) ? lengthOf(dateBefore, found) : 0;
  const after = [3, 5].some((nth) => text.is(inDates, end - nth)) ? lengthOf(dateAfter, found.slice(before)) : 0;
  const range = { start: at + before, end: end - after };
  if (before + after === 0) return isPhone(found, count) ? range : undefined;
  const number = found.slice(before, found.length - after);
  return isPhone(number, digitsIn(text, range.start, range.end)) ? range : undefined;
}

function lengthOf(expression: RegExp, text: string): number {
  return expression.exec(text)?.[0].length ?? 0;
}

function isPhone(text: string, count: number): boolean {
  if (count < fewest || count > most || /[ ./-]{3}/.test(text)) return false;
  if (text.startsWith('+')) return !text.startsWith('+0');
  if (/^00[1-9]/.test(text)) return true;
  if (northAmerican.test(text)) return true;
  return count >= 9 && count <= 12 && national.test(text) && !date.test(text);
}

function digitsIn(text: ClassedText, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (text.is(digit, at)) count++;
  return count;
}

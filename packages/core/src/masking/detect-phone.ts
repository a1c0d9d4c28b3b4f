import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';
import { longestGap } from './detector-breaks.ts';
import { isNamedPhone } from './named-phone.ts';

/** Digits with what people write between them. It enters each run from its beginning only. */
const candidate = /(?<![\w.+-])(?:\+|\()?\d[\d ()/.-]{6,30}\d(?![\w-]|\.\d)/y;
const { digit, letter, blank, dash, bracket, point, sign } = classes;
const written = digit | blank | dash | bracket | point;
/** A number that begins behind one of them is part of something else. */
const goesOn = digit | letter | dash | sign;
const [shortest, fewest, most] = [8, 8, 15];
const [plus, one] = [0x2b, 0x31];
/**
 * The digits of North America, in groups or not, its last seven, and an extension. Ten digits that begin like others are
 * seconds of our time.
 */
const northAmerican =
  /(?!1[5-9]\d{8}(?!\d))(?:(?:\+?1[ .-]?)?(?:(\()\d{3}\)|\d{3})([ .-]?)\d{3}([ .-]?)\d{4}|\d{3}[.-]\d{4})(?:x\d{1,6}|ext\d{1,6})?(?![\w-]|\.\d)/iy;
/** Where no number has digits alone that has something between its groups. */
const digitsOfPlain = [0, 1, 3, 4, 7];
const national = /^\(?0[1-9]\d{0,4}\)?(?:[ /-]\(?\d{2,8}\)?){1,5}$/;
/** Dates that stand beside a number. */
const dateBefore = /^(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})[ -]+/;
const dateAfter = /[ -](?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})$/;
/** What separates the parts of a date. */
const inDates = dash | bracket | point;
const date = /^\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4}/;

/**
 * Phone numbers: with a country's prefix, with the 0 that other countries dial first, and those of North America, whatever
 * their digits: people write `555-123-4567` for any.
 */
export function detectPhones(text: ClassedText): readonly Range[] {
  const found: Range[] = [];
  text.eachRun(written, shortest, (first, last) => {
    const hasPlus = text.text.charCodeAt(first - 1) === plus;
    // Before it ends, what could be a number as a whole has been looked at.
    let known = first - 1;
    for (let at = hasPlus ? first - 1 : first; last - at >= shortest; at++) {
      if (!mayBegin(text, at)) continue;
      const end = at < known ? undefined : endOf(candidate, text, at);
      if (end !== undefined) known = end;
      const number = end === undefined ? undefined : phoneIn(text, at, end);
      const part = number ?? northAmericanAt(text, at);
      if (part === undefined) continue;
      found.push(part);
      at = part.end - 1;
    }
  });
  return found;
}

function mayBegin(text: ClassedText, at: number): boolean {
  if (text.is(goesOn, at - 1)) return false;
  if (!text.is(digit, at) && !(text.is(digit, at + 1) && /[+(]/.test(text.text.charAt(at)))) return false;
  return !text.is(point, at - 1) || text.is(letter, at - 2);
}

/**
 * A number of North America, also among others: with something between its groups, and no other figures beside those with
 * blanks, as in a row of a table; or behind a word that says what it is. `before` and `after` are where others would stand.
 */
function northAmericanAt(text: ClassedText, at: number, before = at, after?: number): Range | undefined {
  if (!mayBeGrouped(text, at)) return undefined;
  const isPlain = digitsOfPlain.every((nth) => text.is(digit, at + nth));
  if (isPlain && !isNamedPhone(text.text, at)) return undefined;
  northAmerican.lastIndex = at;
  const match = northAmerican.exec(text.text);
  if (match === null) return undefined;
  const [{ length }, bracket, first, second] = match;
  const range = { start: at, end: at + length };
  const isGrouped = (bracket !== undefined || first !== '') && second !== undefined && second !== '';
  if (isGrouped && !text.is(point, at - 1)) {
    const hasBlanks = second === ' ' || (first === ' ' && bracket === undefined);
    if (!hasBlanks) return range;
    if (!hasFigureAfter(text, after ?? range.end) && (bracket !== undefined || !hasFigureBefore(text, before)))
      return range;
  }
  return isNamedPhone(text.text, at) ? range : undefined;
}

/** Cheaper than to try: most numbers have other groups. */
function mayBeGrouped(text: ClassedText, at: number): boolean {
  if (isGroupedAt(text, at)) return true;
  const code = text.text.charCodeAt(at);
  if (code === plus) return mayBeGrouped(text, at + 1);
  return code === one && (isGroupedAt(text, at + 1) || isGroupedAt(text, at + 2));
}

function isGroupedAt(text: ClassedText, at: number): boolean {
  if (text.is(bracket, at)) return text.is(bracket, at + 4);
  return text.is(digit, at + 2) && text.is(digit, at + 4) && text.is(digit, at + 5) && text.is(digit, at + 6);
}

/** Whether a figure stands before a place, behind blanks. */
function hasFigureBefore(text: ClassedText, start: number): boolean {
  let at = start - 1;
  while (text.is(blank, at) && start - at < longestGap) at--;
  return text.is(digit, at);
}

/** The same after one. It may be negative. */
function hasFigureAfter(text: ClassedText, end: number): boolean {
  let at = end;
  while (text.is(blank, at) && at - end < longestGap - 1) at++;
  return text.is(digit, at > end && text.is(dash, at) ? at + 1 : at);
}

function endOf(expression: RegExp, text: ClassedText, start: number): number | undefined {
  expression.lastIndex = start;
  return expression.test(text.text) ? expression.lastIndex : undefined;
}

function phoneIn(text: ClassedText, at: number, end: number): Range | undefined {
  const count = digitsIn(text, at, end);
  // Without the dates there are fewer.
  if (count < fewest) return undefined;
  const found = text.text.slice(at, end);
  const before = [1, 2, 4].some((nth) => text.is(inDates, at + nth)) ? lengthOf(dateBefore, found) : 0;
  const after = [3, 5].some((nth) => text.is(inDates, end - nth)) ? lengthOf(dateAfter, found.slice(before)) : 0;
  const range = { start: at + before, end: end - after };
  const isPart = before + after > 0;
  const number = isPart ? found.slice(before, found.length - after) : found;
  if (isPhone(number, isPart ? digitsIn(text, range.start, range.end) : count)) return range;
  const american = isPart ? northAmericanAt(text, range.start, at, end) : undefined;
  return american?.end === range.end ? range : undefined;
}

function lengthOf(expression: RegExp, text: string): number {
  return expression.exec(text)?.[0].length ?? 0;
}

function isPhone(text: string, count: number): boolean {
  if (count < fewest || count > most || /[ ./-]{3}/.test(text)) return false;
  if (text.startsWith('+')) return !text.startsWith('+0');
  if (/^00[1-9]/.test(text)) return true;
  return count >= 9 && count <= 12 && national.test(text) && !date.test(text);
}

function digitsIn(text: ClassedText, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (text.is(digit, at)) count++;
  return count;
}

import type { Range } from '../kernel/index.ts';

/** Digits with what people write between them. It enters each run from its beginning only. */
const candidate = /(?<![\w.+-])(?:\+|\()?\d[\d ()/.-]{6,30}\d(?![\w-]|\.\d)/g;
const [fewest, most] = [8, 15];
const northAmerican = /^(?:1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}$/;
const national = /^\(?0[1-9]\d{0,4}\)?(?:[ /-]\(?\d{2,8}\)?){1,5}$/;
/** Dates that stand beside a number. */
const dateBefore = /^(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})[ -]+/;
const dateAfter = /[ -](?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})$/;
const date = /^\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4}/;

/** Phone numbers: with a country's prefix, of North America, or with the 0 that other countries dial first. */
export function* detectPhones(text: string): Generator<Range> {
  for (const { 0: found, index } of text.matchAll(candidate)) {
    const before = found.length - found.replace(dateBefore, '').length;
    const number = found.slice(before).replace(dateAfter, '');
    const start = index + before;
    if (isPhone(number)) yield { start, end: start + number.length };
  }
}

function isPhone(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  if (digits < fewest || digits > most || /[ ./-]{3}/.test(text)) return false;
  if (text.startsWith('+')) return !text.startsWith('+0');
  if (/^00[1-9]/.test(text)) return true;
  if (northAmerican.test(text)) return true;
  return digits >= 9 && digits <= 12 && national.test(text) && !date.test(text);
}

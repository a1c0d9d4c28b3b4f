/*
 * Where a text can be cut while its end has not come yet: what a detector finds before the place, and behind it, is what it
 * finds in the whole text, whatever follows. Each says so of the text as detectors read it, whose character at the place may
 * not be known yet. When in doubt, it is no such place.
 */

import { isNamedPhone } from './named-phone.ts';

/** Says whether a text can be cut before the character at `at`. */
export type BreaksAt = (text: string, at: number) => boolean;

/** Numbers in groups go on over blanks. A blank beside anything that is no part of a number ends them. */
export const breaksNumbers: BreaksAt = (text, at) => {
  const last = text.charAt(at - 1);
  if (last !== ' ') return !/[\w ()/.+-]/.test(last);
  if (at < text.length ? !ofNumber.test(text.charAt(at)) || endsWord(text, at - 1) : endsWord(text, at - 1))
    return true;
  return isBehindGap(text, at) || isAmongFewDigits(text, at);
};

const ofNumber = /[\d ()/.+-]/;

/** No number has so much between two of its digits. */
export const longestGap = 32;

function isBehindGap(text: string, at: number): boolean {
  return at >= longestGap && !/\d/.test(text.slice(at - longestGap, at));
}

/** No number that is looked for has less, and more digits than these may be one. */
const fewestDigits = 8;
const longestRun = 64;

/** Whether all that could be one number with what stands here is known, and too short for one. */
function isAmongFewDigits(text: string, at: number): boolean {
  let [first, end] = [at, at];
  const [least, most] = [Math.max(0, at - longestRun), Math.min(text.length, at + longestRun)];
  while (first > least && ofNumber.test(text.charAt(first - 1))) first--;
  while (end < most && ofNumber.test(text.charAt(end))) end++;
  if ((first === least && least > 0) || end === most) return false;
  return text.slice(first, end).replaceAll(/\D/g, '').length < fewestDigits;
}

function endsWord(text: string, at: number): boolean {
  return at > 0 && !ofNumber.test(text.charAt(at - 1));
}

/** A word that says what a number is stays with the number. */
export const breaksPhones: BreaksAt = (text, at) => breaksNumbers(text, at) && !isNamedPhone(text, at);

/** No address has a blank in it, or anything else than these. */
export const breaksIps: BreaksAt = (text, at) => !/[\w:.-]/.test(text.charAt(at - 1));

const longestIban = 2 * 34;
const ibanStart = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){0,30}[ -]?$/;

/** A number of an account goes on over blanks and letters, but not for long. */
export const breaksIbans: BreaksAt = (text, at) => {
  const last = text.charAt(at - 1);
  if (/[A-Za-z0-9]/.test(last)) return false;
  return (last !== ' ' && last !== '-') || !ibanStart.test(text.slice(Math.max(0, at - longestIban), at));
};

const [longestLocal, longestAddress] = [64, 3 + 253];
const sign = /@|%40/;

/** An address goes on over letters of any language, and over anything within quotes. Far from its sign there is none. */
export const breaksEmails: BreaksAt = (text, at) => {
  if (text.charAt(at - 1) === '\n') return true;
  if (!/[\p{L}\p{N}\p{Cs}.!#$%'*+^_`{|}~"@-]/u.test(text.charAt(at - 1))) return !isQuoted(text, at);
  const known = at + longestLocal + 2;
  return known <= text.length && !sign.test(text.slice(Math.max(0, at - longestAddress), known));
};

/** Only the nearest quote before a sign counts: one with something else behind it, none on this line, or none for long. */
const unquoted = new RegExp(`^(?:[^"\\n]*(?:\\n|"[^@%])|[^"]{${longestLocal}})`);

/** Whether a quote before the place may be that of an address behind it. */
function isQuoted(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - longestLocal), at);
  const quote = before.lastIndexOf('"');
  if (quote < 0 || before.includes('\n', quote)) return false;
  return !unquoted.test(text.slice(at, at + longestLocal));
}

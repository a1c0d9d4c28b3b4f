import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { find, findLast } from './text-search.ts';
import { described, wholeNumber } from './values.ts';

export function textIn(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw fault(`${name} works on strings, not on ${described(value)}`);
}

/** Characters are Unicode code points, in sizes and in indices alike. */
export function sizeOfText(frame: Frame, text: string): bigint {
  return BigInt(text.length - pairsIn(frame, text, text.length));
}

/** How many code points before `end`, an offset in UTF-16, take two units. */
function pairsIn(frame: Frame, text: string, end: number): number {
  frame.charge(end / 4);
  let pairs = 0;
  for (let at = 0; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(at + 1))) {
      pairs++;
      at++;
    }
  }
  return pairs;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The UTF-16 offset of the code point with this index. The index of the end is allowed, too. */
function placeOf(frame: Frame, text: string, index: number, name: string): number {
  let place = 0;
  if (index >= 0 && index <= text.length) {
    frame.charge(index / 4);
    let left = index;
    for (; left > 0 && place < text.length; left--) place += (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
    if (left === 0) return place;
  }
  throw fault(`${name}: the index is outside of the string`);
}

function indexAt(frame: Frame, text: string, place: number): bigint {
  return place < 0 ? -1n : BigInt(place - pairsIn(frame, text, place));
}

export function indexOf(frame: Frame, of: unknown, what: unknown, from: unknown = 0n): bigint {
  const text = textIn(of, 'indexOf');
  const start = placeOf(frame, text, wholeNumber(from, 'the index'), 'indexOf');
  return indexAt(frame, text, find(frame, text, textIn(what, 'indexOf'), start));
}

export function lastIndexOf(frame: Frame, of: unknown, what: unknown, from?: unknown): bigint {
  const text = textIn(of, 'lastIndexOf');
  const start = from === undefined ? text.length : placeOf(frame, text, wholeNumber(from, 'the index'), 'lastIndexOf');
  return indexAt(frame, text, findLast(frame, text, textIn(what, 'lastIndexOf'), start));
}

export function contains(frame: Frame, of: unknown, what: unknown): boolean {
  return find(frame, textIn(of, 'contains'), textIn(what, 'contains')) >= 0;
}

export function startsWith(frame: Frame, of: unknown, what: unknown): boolean {
  const start = textIn(what, 'startsWith');
  frame.charge(start.length / 16);
  return textIn(of, 'startsWith').startsWith(start);
}

export function endsWith(frame: Frame, of: unknown, what: unknown): boolean {
  const end = textIn(what, 'endsWith');
  frame.charge(end.length / 16);
  return textIn(of, 'endsWith').endsWith(end);
}

export function substring(frame: Frame, of: unknown, from: unknown, to?: unknown): string {
  const text = textIn(of, 'substring');
  const start = placeOf(frame, text, wholeNumber(from, 'the index'), 'substring');
  if (to === undefined) return text.slice(start);
  const end = placeOf(frame, text, wholeNumber(to, 'the index'), 'substring');
  if (end < start) throw fault('substring: the end lies before the start');
  return text.slice(start, end);
}

/** Only the letters A to Z change, as the names say. */
export function lowerAscii(frame: Frame, of: unknown): string {
  const text = textIn(of, 'lowerAscii');
  if (isAscii(frame, text)) return text.toLowerCase();
  frame.charge(text.length * 4);
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function upperAscii(frame: Frame, of: unknown): string {
  const text = textIn(of, 'upperAscii');
  if (isAscii(frame, text)) return text.toUpperCase();
  frame.charge(text.length * 4);
  return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
}

function isAscii(frame: Frame, text: string): boolean {
  frame.charge(text.length / 4);
  return !/[^\0-\x7f]/.test(text);
}

export function trim(frame: Frame, of: unknown): string {
  const text = textIn(of, 'trim');
  frame.charge(text.length / 8);
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** White space as Unicode defines it. JavaScript's own `trim` leaves U+0085 and takes U+FEFF. */
function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return (unit >= 0x2000 && unit <= 0x200a) || furtherSpaces.has(unit);
}

const furtherSpaces: ReadonlySet<number> = new Set([0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);

/** Splits into at most `limit` parts, and the last part holds the rest. A negative limit means any number. */
export function split(frame: Frame, of: unknown, by: unknown, limit: unknown = -1n): string[] {
  const text = textIn(of, 'split');
  const separator = textIn(by, 'split');
  const most = wholeNumber(limit, 'the limit');
  if (most === 0) return [];
  const parts: string[] = [];
  let start = 0;
  while (parts.length + 1 !== most) {
    frame.charge(10);
    const end = separator === '' ? afterCharacter(text, start) : find(frame, text, separator, start);
    if (end < 0 || end > text.length) break;
    parts.push(text.slice(start, end));
    start = end + separator.length;
  }
  if (separator !== '' || start < text.length) parts.push(text.slice(start));
  return parts;
}

/** The end of the character that starts here; -1 for the last one. */
function afterCharacter(text: string, start: number): number {
  const end = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
  return end >= text.length ? -1 : end;
}

export function join(frame: Frame, of: unknown, by: unknown = ''): string {
  const separator = textIn(by, 'join');
  if (!Array.isArray(of)) throw fault(`join works on lists of strings, not on ${described(of)}`);
  for (const item of of) frame.charge(3 + (textIn(item, 'join').length + separator.length) / 16);
  return of.join(separator);
}

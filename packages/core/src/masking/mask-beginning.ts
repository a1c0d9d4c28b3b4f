import { scanJson, withoutMark } from '../action/index.ts';
import type { Charge } from '../kernel/index.ts';
import { beginsJson } from './begins-json.ts';
import { breaksAt, plainly, staysInLine } from './detectors.ts';
import type { Mask } from './mask.ts';
import { deepestResult, mayBeJson, maskLines } from './mask-result.ts';
import { plainText, withoutEscapes } from './placed-text.ts';

/** Where a piece of a text begins: with the text, with a line of it, or within a line. */
export type PiecePlace = 'text' | 'line' | 'within';

/** The beginning of a piece of a text, as it may be read. */
export interface MaskedBeginning {
  /** How many characters of the piece are decided. */
  readonly taken: number;
  /** What they read as. Absent if nothing is replaced. */
  readonly text?: string;
}

const nothing: MaskedBeginning = { taken: 0 };
/** So many places are tried, from the end. Where none of them is one, more of the text has to come. */
const mostTries = 4096;

/**
 * Masks a piece of a text whose end has not come yet, up to the last place at which it can be cut: what masks find in the
 * parts is what they find in the whole text, whatever follows. The rest of the piece is to be sent again with what follows
 * it. The masks must not name fields, which need the whole.
 */
export function maskBeginning(
  piece: string,
  place: PiecePlace,
  masks: readonly Mask[],
  charge: Charge,
): MaskedBeginning {
  charge(piece.length);
  const taken = lastBreak(piece, place, masks, charge);
  if (taken === 0) return nothing;
  const text = piece.slice(0, taken);
  const lines = { isFirstWhole: place !== 'within', isLastWhole: text.endsWith('\n') };
  const masked = maskLines(text, masks, lines, charge);
  if (typeof masked === 'string') return nothing;
  return masked === undefined ? { taken } : { taken, text: masked.text };
}

function lastBreak(piece: string, place: PiecePlace, masks: readonly Mask[], charge: Charge): number {
  // Nobody knows yet what an escape stands for that is not whole.
  const known = piece.replace(unfinishedEscape, '');
  if (known === '' || (place === 'text' && beginsJson(piece))) return 0;
  const line = piece.lastIndexOf('\n') + 1;
  const isLineBegun = line > 0 || place !== 'within';
  const last = isLineBegun && beginsJson(piece.slice(line)) ? line : known.length;
  const from = afterJson(piece, place !== 'within');
  const rest = known.slice(from);
  const breaks = breaksIn(rest, masks, charge);
  const first = Math.max(0, last - from - mostTries);
  for (let at = last - from; at > first; at--) if (breaks(at)) return from + at;
  return 0;
}

/** Where the last line that is JSON ends. What stands before it has nothing to do with what follows it. */
function afterJson(piece: string, isFirstWhole: boolean): number {
  let after = 0;
  for (let start = 0, end = piece.indexOf('\n'); end >= 0; start = end + 1, end = piece.indexOf('\n', start)) {
    const line = piece.slice(start, end);
    if ((start > 0 || isFirstWhole) && mayBeJson(line) && isJson(line)) after = end;
  }
  return after;
}

function isJson(line: string): boolean {
  const limits = { depth: deepestResult, values: Number.POSITIVE_INFINITY };
  return typeof scanJson(withoutMark(line), limits) === 'number';
}

/** Says whether a text can be cut at a place, for all that masks look for. */
function breaksIn(text: string, masks: readonly Mask[], charge: Charge): (at: number) => boolean {
  const plain = plainly(text);
  const names = [...new Set(masks.flatMap(({ detect }) => detect))];
  const patterns = [...new Set(masks.flatMap((mask) => mask.patterns))];
  const hasEscapes = text.includes('\\u');
  const breaksAs = (read: string, readPlain: string, at: number): boolean =>
    patterns.every(({ breaksAfter }) => breaksAfter?.(read.charAt(at - 1)) === true) &&
    names.every((name) => {
      if (!staysInLine(name)) charge(at);
      return breaksAt(name, staysInLine(name) ? readPlain : read, at);
    });
  return (at) => {
    if (isInside(text, at) || !breaksAs(text, plain, at)) return false;
    if (!hasEscapes) return true;
    charge(text.length);
    const before = unescaped(text.slice(0, at));
    const read = before + unescaped(text.slice(at));
    return breaksAs(read, plainly(read), before.length);
  };
}

function unescaped(text: string): string {
  return withoutEscapes(plainText(text))?.text ?? text;
}

const unfinishedEscape = /(?<!\\)\\+(?:u[0-9a-fA-F]{0,3})?$/;

/** Whether a place is in the middle of a character, or of an escape that stands for one. */
function isInside(text: string, at: number): boolean {
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(at - 1));
  return isHalf || unfinishedEscape.test(text.slice(Math.max(0, at - longestEscape), at));
}

/** Any number of backslashes may stand before one. The last ones tell. */
const longestEscape = 8;

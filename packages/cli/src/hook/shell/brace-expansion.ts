import type { Cell } from './word.ts';

type Cells = readonly Cell[];

const mostWords = 64;
const mostBraces = 32;
const longestWord = 4096;

/**
 * Brace expansion as bash does it before everything else: `{a,b}` and `{1..3}`. Undefined if there would be too many
 * words.
 */
export function expandBraces(cells: Cells): readonly Cells[] | undefined {
  const braces = cells.filter((cell) => isPlain(cell, '{')).length;
  if (braces === 0) return [cells];
  if (braces > mostBraces || cells.length > longestWord) return undefined;
  let words: Cells[] = [[]];
  let at = 0;
  while (at < cells.length) {
    const group = groupAt(cells, at);
    // Cells up to the next brace at once: copying every word for each of them would take long.
    const next = group?.end ?? cells.findIndex((cell, index) => index > at && isPlain(cell, '{'));
    const end = next < 0 ? cells.length : next;
    const choices = group === undefined ? [cells.slice(at, end)] : alternativesOf(group.inner);
    if (choices === undefined || words.length * choices.length > mostWords) return undefined;
    words = words.flatMap((word) => choices.map((choice) => [...word, ...choice]));
    at = end;
  }
  return words;
}

function isPlain({ text, quoted, unknown }: Cell, wanted: string): boolean {
  return text === wanted && !quoted && !unknown;
}

interface Group {
  readonly inner: Cells;
  readonly end: number;
}

/** The braces that open at this place, if they hold a comma or a range. */
function groupAt(cells: Cells, at: number): Group | undefined {
  const opening = cells[at];
  if (opening === undefined || !isPlain(opening, '{')) return undefined;
  let depth = 0;
  for (let end = at; end < cells.length; end++) {
    const cell = cells[end];
    if (cell === undefined) break;
    if (isPlain(cell, '{')) depth++;
    if (isPlain(cell, '}') && --depth === 0) {
      const inner = cells.slice(at + 1, end);
      return splitAtCommas(inner).length > 1 || rangeOf(inner) !== undefined ? { inner, end: end + 1 } : undefined;
    }
  }
  return undefined;
}

function alternativesOf(inner: Cells): readonly Cells[] | undefined {
  const parts = splitAtCommas(inner);
  if (parts.length === 1) return rangeOf(inner);
  if (parts.length > mostWords) return undefined;
  const each = parts.map(expandBraces);
  return each.some((part) => part === undefined) ? undefined : each.flatMap((part) => part ?? []);
}

function splitAtCommas(cells: Cells): Cells[] {
  const parts: Cell[][] = [[]];
  let depth = 0;
  for (const cell of cells) {
    if (isPlain(cell, '{')) depth++;
    if (isPlain(cell, '}')) depth--;
    if (depth === 0 && isPlain(cell, ',')) parts.push([]);
    else parts.at(-1)?.push(cell);
  }
  return parts;
}

/** `1..3`, `a..c`, `1..9..2`. */
function rangeOf(inner: Cells): readonly Cells[] | undefined {
  if (inner.some(({ quoted, unknown }) => quoted || unknown)) return undefined;
  const text = inner.map((cell) => cell.text).join('');
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const [, from = '', to = '', by] = numbers ?? letters ?? [];
  if (from === '') return undefined;
  const ends = numbers === null ? [from.charCodeAt(0), to.charCodeAt(0)] : [Number(from), Number(to)];
  const [first = 0, last = 0] = ends;
  const step = Math.max(1, Math.abs(Number(by ?? 1)));
  const count = Math.floor(Math.abs(last - first) / step) + 1;
  if (count > mostWords) return Array.from({ length: mostWords + 1 }, () => []);
  return Array.from({ length: count }, (_, index) => {
    const value = first + (last < first ? -step : step) * index;
    const written = numbers === null ? String.fromCharCode(value) : String(value);
    return Array.from(written, (character) => ({ text: character, quoted: true, unknown: false }));
  });
}

import type { Range } from '../kernel/index.ts';

/** A text of a result: what it says, and where each of its characters stands. */
export interface PlacedText {
  readonly text: string;
  readonly isJson: boolean;
  /** The range of the result that says this part of it. It cuts no escape and no character in two. */
  place(range: Range): Range;
}

/** A result that is no JSON. */
export function plainText(text: string): PlacedText {
  return { text, isJson: false, place: (range) => whole(text, range) };
}

/** The text between the quotes at `start` and before `end`. */
export function jsonText(json: string, start: number, end: number): PlacedText {
  const raw = json.slice(start + 1, end - 1);
  const at = start + 1;
  if (!raw.includes('\\')) return { text: raw, isJson: true, place: (range) => moved(whole(raw, range), at) };
  const [text, places] = unescaped(raw);
  return {
    text,
    isJson: true,
    place: (range) => {
      const { start: first, end: last } = whole(text, range);
      return moved({ start: places[first] ?? 0, end: places[last] ?? raw.length }, at);
    },
  };
}

const short: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** What a text with escapes says, and for each of its characters, and its end, the place in the escaped text. */
function unescaped(raw: string): [string, Uint32Array] {
  const places = new Uint32Array(raw.length + 1);
  const parts: string[] = [];
  let count = 0;
  for (let at = 0; at < raw.length; ) {
    const next = raw.indexOf('\\', at);
    const plainEnd = next < 0 ? raw.length : next;
    for (let place = at; place < plainEnd; place++) places[count++] = place;
    parts.push(raw.slice(at, plainEnd));
    at = plainEnd;
    if (next < 0) break;
    const sign = raw.charAt(next + 1);
    places[count++] = next;
    parts.push(
      sign === 'u' ? String.fromCharCode(Number.parseInt(raw.slice(next + 2, next + 6), 16)) : (short[sign] ?? sign),
    );
    at += sign === 'u' ? 6 : 2;
  }
  places[count] = raw.length;
  return [parts.join(''), places.subarray(0, count + 1)];
}

/** Two halves of one character stay together. */
function whole(text: string, { start, end }: Range): Range {
  return { start: isInside(text, start) ? start - 1 : start, end: isInside(text, end) ? end + 1 : end };
}

function isInside(text: string, at: number): boolean {
  return at > 0 && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at));
}

function moved({ start, end }: Range, by: number): Range {
  return { start: start + by, end: end + by };
}

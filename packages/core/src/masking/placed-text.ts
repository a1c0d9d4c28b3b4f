import type { Range } from '../kernel/index.ts';

/** Where a text stands in a result, and how something is written there. */
export interface Place {
  /** The range of the result that says this part of the text. It cuts no escape and no character in two. */
  place(range: Range): Range;
  /** What stands for this text there. */
  encode(text: string): string;
}

/** A text of a result: what it says, and where each of its characters stands. */
export interface PlacedText extends Place {
  readonly text: string;
  /** The same range of the same text wherever else it stands. */
  again?(range: Range): Iterable<Range>;
}

/** A result as it is, and a text that is no JSON. */
export function plainText(text: string): PlacedText {
  return { text, place: (range) => whole(text, range), encode: (written) => written };
}

/** A text of JSON, which may itself be in a text. A result has ten thousands of them, so they hold little. */
export class JsonText implements PlacedText {
  readonly text: string;
  readonly #within: Place;
  /** Where it begins, behind its quote. */
  readonly #at: number;
  /** The place of each character, if the text has escapes. */
  readonly #places: Uint32Array | undefined;
  /** Where the same text begins again, behind its quote. */
  #repeats: number[] | undefined;

  /** The text between the quotes at `start` and before `end`. */
  constructor(json: string, within: Place, start: number, end: number) {
    const raw = json.slice(start + 1, end - 1);
    this.#within = within;
    this.#at = start + 1;
    if (raw.includes('\\')) [this.text, this.#places] = unescaped(raw);
    else this.text = raw;
  }

  place(range: Range): Range {
    const { start, end } = whole(this.text, range);
    const places = this.#places;
    return this.#within.place(
      moved(places === undefined ? { start, end } : { start: places[start] ?? 0, end: places[end] ?? 0 }, this.#at),
    );
  }

  encode(text: string): string {
    return this.#within.encode(JSON.stringify(text).slice(1, -1));
  }

  /** The same text, without escapes, stands between the quotes at `start` as well. */
  repeat(start: number): void {
    this.#repeats ??= [];
    this.#repeats.push(start + 1);
  }

  *again(range: Range): Generator<Range> {
    if (this.#repeats === undefined) return;
    const inside = whole(this.text, range);
    for (const at of this.#repeats) yield this.#within.place(moved(inside, at));
  }
}

/** Longer texts are hardly ever the same. */
export const longestEqual = 256;

/**
 * The texts of JSON, equal ones once: a list of records has the same names again and again, and often the same values. Of
 * those with escapes each is its own.
 */
export class JsonTexts {
  readonly #json: string;
  readonly #within: Place;
  readonly #known = new Map<string, JsonText>();
  readonly all: JsonText[] = [];

  constructor(json: string, within: Place) {
    this.#json = json;
    this.#within = within;
  }

  /** The text between the quotes at `start` and before `end`, to be looked at unless an equal one is. */
  add(start: number, end: number): string {
    if (end - start > longestEqual) return this.push(this.read(start, end));
    const raw = this.#json.slice(start + 1, end - 1);
    const known = this.#known.get(raw);
    if (known !== undefined) {
      known.repeat(start);
      return known.text;
    }
    const made = this.read(start, end);
    if (made.text === raw) this.#known.set(raw, made);
    return this.push(made);
  }

  /** The same, to be looked at elsewhere. */
  read(start: number, end: number): JsonText {
    return new JsonText(this.#json, this.#within, start, end);
  }

  push(made: JsonText): string {
    this.all.push(made);
    return made.text;
  }
}

/** A part of a text, as it is. */
export function partOf(within: PlacedText, start: number, end: number): PlacedText {
  return {
    text: within.text.slice(start, end),
    place: (range) => within.place(moved(range, start)),
    encode: (written) => within.encode(written),
  };
}

const escapes = /(?<!\\)\\+u([0-9a-fA-F]{4})/g;

/** The text as its readers understand it, if it has escapes of JSON and is none. */
export function withoutEscapes(of: PlacedText): PlacedText | undefined {
  if (!of.text.includes('\\u')) return undefined;
  const places = new Uint32Array(of.text.length + 1);
  const parts: string[] = [];
  let [count, at] = [0, 0];
  const plainUntil = (end: number) => {
    parts.push(of.text.slice(at, end));
    while (at < end) places[count++] = at++;
  };
  for (const { 0: escape, 1: code = '', index } of of.text.matchAll(escapes)) {
    plainUntil(index);
    places[count++] = index;
    parts.push(String.fromCharCode(Number.parseInt(code, 16)));
    at = index + escape.length;
  }
  plainUntil(of.text.length);
  places[count] = of.text.length;
  const text = parts.join('');
  return {
    text,
    place: (range) => {
      const { start, end } = whole(text, range);
      return of.place({ start: places[start] ?? 0, end: places[end] ?? 0 });
    },
    encode: (written) => of.encode(written),
  };
}

/** A number of JSON that says this. Whatever is found in it, all of it is replaced by a text. */
export function jsonNumber(text: string, within: Place, start: number, end: number): PlacedText {
  return {
    text,
    place: () => within.place({ start, end }),
    encode: (written) => within.encode(JSON.stringify(written)),
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

export function moved({ start, end }: Range, by: number): Range {
  return { start: start + by, end: end + by };
}

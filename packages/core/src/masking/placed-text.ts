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
  again?(range: Range): readonly Range[];
}

/** A result as it is, and a text that is no JSON. */
export function plainText(text: string): PlacedText {
  return { text, place: (range) => whole(text, range), encode: (written) => written };
}

/** A text of JSON, which may itself be in a text. A result has ten thousands of them, so they hold little. */
export class JsonText implements PlacedText {
  readonly text: string;
  readonly #of: JsonTexts;
  /** Where it begins, behind its quote. */
  readonly #at: number;
  /** The place of each character, if the text has escapes. */
  readonly #places: Uint32Array | undefined;
  /** Where the same text begins again, behind its quote. */
  #repeats: number[] | undefined;

  /** The text that is written as `raw` at a place of JSON. */
  constructor(raw: string, of: JsonTexts, at: number) {
    this.#of = of;
    this.#at = at;
    if (of.hasEscapes && raw.includes('\\')) [this.text, this.#places] = unescaped(raw);
    else this.text = raw;
  }

  get hasEscapes(): boolean {
    return this.#places !== undefined;
  }

  place(range: Range): Range {
    const { start, end } = whole(this.text, range);
    const places = this.#places;
    return this.#of.within.place(
      moved(places === undefined ? { start, end } : { start: places[start] ?? 0, end: places[end] ?? 0 }, this.#at),
    );
  }

  encode(text: string): string {
    return this.#of.encode(text);
  }

  /** The same text, without escapes, begins here as well. */
  repeat(at: number): void {
    this.#repeats ??= [];
    this.#repeats.push(at);
  }

  again(range: Range): readonly Range[] {
    if (this.#repeats === undefined) return none;
    const inside = whole(this.text, range);
    return this.#repeats.map((at) => this.#of.within.place(moved(inside, at)));
  }
}

const none: readonly Range[] = [];

/** Longer texts are hardly ever the same. */
export const longestEqual = 256;
/** Texts that are remembered, by a number that equal ones have. The last one of each number is. */
const slots = 1024;

/**
 * The texts of JSON, equal ones once: a list of records has the same names again and again, and often the same values. Of
 * those with escapes each is its own.
 */
export class JsonTexts {
  readonly #json: string;
  readonly within: Place;
  /** Whether any of them has. */
  readonly hasEscapes: boolean;
  readonly #known: (JsonText | undefined)[] = Array.from({ length: slots });
  readonly all: JsonText[] = [];
  #encoded = { text: '', as: '' };

  constructor(json: string, within: Place) {
    this.#json = json;
    this.within = within;
    this.hasEscapes = json.includes('\\');
  }

  /** The text between the quotes at `start` and before `end`, to be looked at unless an equal one is. */
  add(start: number, end: number): string {
    if (end - start > longestEqual) return this.push(this.read(start, end));
    const slot = this.#slotOf(start + 1, end - 1);
    const raw = this.#json.slice(start + 1, end - 1);
    const known = this.#known[slot];
    if (known?.text === raw) {
      known.repeat(start + 1);
      return known.text;
    }
    const made = new JsonText(raw, this, start + 1);
    if (!made.hasEscapes) this.#known[slot] = made;
    return this.push(made);
  }

  /** The same, to be looked at elsewhere. */
  read(start: number, end: number): JsonText {
    return new JsonText(this.#json.slice(start + 1, end - 1), this, start + 1);
  }

  push(made: JsonText): string {
    this.all.push(made);
    return made.text;
  }

  /** What stands for a text within a text of JSON. Mostly, it is the same again and again. */
  encode(text: string): string {
    if (this.#encoded.text !== text) {
      this.#encoded = { text, as: this.within.encode(JSON.stringify(text).slice(1, -1)) };
    }
    return this.#encoded.as;
  }

  /** Enough of a text to tell the names of a record apart. */
  #slotOf(from: number, to: number): number {
    const json = this.#json;
    const middle = (from + to) >> 1;
    return (
      (json.charCodeAt(from) + json.charCodeAt(middle) * 7 + json.charCodeAt(to - 1) * 31 + (to - from) * 131) % slots
    );
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
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

export function moved({ start, end }: Range, by: number): Range {
  return { start: start + by, end: end + by };
}

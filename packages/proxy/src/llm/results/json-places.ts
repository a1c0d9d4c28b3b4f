import type { JsonMember } from '../json-members.ts';
import { jsonMembers, stringEnd } from '../json-members.ts';

/** Where a value stands in a text. */
export type Place = Pick<JsonMember, 'from' | 'to'>;

const [quote, comma, openBrace] = [0x22, 0x2c, 0x7b];

/** Where the items of a list stand, which itself stands at a place of valid JSON. */
export function jsonItems(text: Buffer, { from, to }: Place): readonly Place[] {
  const items: Place[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < to; at++) {
    const byte = text[at];
    if (byte === quote) at = stringEnd(text, at);
    else if (byte === openBrace || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    if ((depth === 1 && byte === comma) || depth === 0) {
      const item = trimmed(text, start, at);
      if (item.from < item.to) items.push(item);
      start = at + 1;
      if (depth === 0) break;
    }
  }
  return items;
}

/** Finds where values stand in a text of JSON, by names of members and indices. It reads each list and each object once. */
export class JsonPlaces {
  readonly #text: Buffer;
  readonly #within = new Map<number, ReadonlyMap<string | number, Place>>();

  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Undefined if it is not there. */
  find(path: readonly (string | number)[]): Place | undefined {
    let place: Place | undefined = { from: this.#text.indexOf('{'), to: this.#text.length };
    for (const step of path) place = place === undefined ? undefined : this.#in(place).get(step);
    return place;
  }

  #in(place: Place): ReadonlyMap<string | number, Place> {
    const known = this.#within.get(place.from);
    if (known !== undefined) return known;
    const found =
      this.#text[place.from] === openBrace ? this.#members(place) : new Map(jsonItems(this.#text, place).entries());
    this.#within.set(place.from, found);
    return found;
  }

  #members({ from, to }: Place): ReadonlyMap<string, Place> {
    const { members } = jsonMembers(this.#text.subarray(from, to));
    return new Map(members.map((each) => [each.key, { from: from + each.from, to: from + each.to }]));
  }
}

function trimmed(text: Buffer, from: number, to: number): Place {
  const isSpace = (at: number) => [0x20, 0x09, 0x0a, 0x0d].includes(text[at] ?? 0);
  let [start, end] = [from, to];
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return { from: start, to: end };
}

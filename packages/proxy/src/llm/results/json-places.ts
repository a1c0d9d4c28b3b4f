import type { JsonMember } from '../json-members.ts';
import { jsonMembers } from '../json-members.ts';

/** Where a value stands in a text. */
export type Place = Pick<JsonMember, 'from' | 'to'>;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];

/** Where the items of a list stand, which itself stands at a place of valid JSON. */
export function jsonItems(text: Buffer, { from, to }: Place): readonly Place[] {
  const items: Place[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < to; at++) {
    const byte = text[at];
    if (byte === quote) at = stringEnd(text, at);
    else if (byte === 0x7b || byte === 0x5b) depth++;
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

/** Where a value stands that is reached by names of members and indices. Undefined if it is not there. */
export function placeAt(text: Buffer, whole: Place, path: readonly (string | number)[]): Place | undefined {
  let place: Place | undefined = whole;
  for (const step of path) {
    if (place === undefined) return undefined;
    if (typeof step === 'number') place = jsonItems(text, place)[step];
    else {
      const { from, to }: Place = place;
      const { members } = jsonMembers(text.subarray(from, to));
      const member = members.find(({ key }) => key === step);
      place = member === undefined ? undefined : { from: from + member.from, to: from + member.to };
    }
  }
  return place;
}

function stringEnd(text: Buffer, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === backslash) at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

function trimmed(text: Buffer, from: number, to: number): Place {
  const isSpace = (at: number) => [0x20, 0x09, 0x0a, 0x0d].includes(text[at] ?? 0);
  let [start, end] = [from, to];
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return { from: start, to: end };
}

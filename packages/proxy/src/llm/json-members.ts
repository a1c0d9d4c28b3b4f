/** A member of the outermost object, by the place of its value in the text. */
export interface JsonMember {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

export interface JsonMembers {
  readonly members: readonly JsonMember[];
  /** The place of the closing brace. */
  readonly end: number;
}

/** The text has more parts than a parser gets through without keeping everybody else waiting. */
export class TooManyParts extends Error {}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Where the members of an object stand. The text must be valid JSON with an object outside. Readers of JSON disagree on
 * which of two members of the same name counts, so a caller that judges a member wants to know of both. `most` bounds the
 * quotes, brackets and commas.
 */
export function jsonMembers(text: Buffer, most = Number.POSITIVE_INFINITY): JsonMembers {
  const members: JsonMember[] = [];
  let left = most;
  const count = () => {
    if (--left < 0) throw new TooManyParts();
  };
  let at = text.indexOf('{') + 1;
  let depth = 1;
  let key: string | undefined;
  let from = at;
  const close = () => {
    if (key !== undefined) members.push({ key, ...trimmed(text, from, at) });
    key = undefined;
  };
  for (; at < text.length; at++) {
    switch (text[at] ?? 0) {
      case quote: {
        const end = stringEnd(text, at, count);
        if (depth === 1 && key === undefined) key = JSON.parse(text.toString('utf8', at, end + 1)) as string;
        at = end;
        break;
      }
      case 0x7b:
      case 0x5b:
        count();
        depth++;
        break;
      case 0x7d:
      case 0x5d:
        if (--depth === 0) {
          close();
          return { members, end: at };
        }
        break;
      case 0x3a:
        if (depth === 1) from = at + 1;
        break;
      case 0x2c:
        count();
        if (depth === 1) close();
        break;
      default:
    }
  }
  return { members, end: text.length };
}

/** The first name that occurs twice. */
export function repeatedKey({ members }: JsonMembers): string | undefined {
  const seen = new Set<string>();
  return members.find(({ key }) => seen.size === seen.add(key).size)?.key;
}

/** The closing quote of the string that opens at a place. */
export function stringEnd(text: Buffer, open: number, count = () => {}): number {
  let end = open;
  do {
    count();
    end = text.indexOf(quote, end + 1);
  } while (end >= 0 && isEscaped(text, end));
  return end < 0 ? text.length : end;
}

function isEscaped(text: Buffer, at: number): boolean {
  let before = at;
  while (text[before - 1] === backslash) before--;
  return (at - before) % 2 === 1;
}

function trimmed(text: Buffer, from: number, to: number): { from: number; to: number } {
  const isSpace = (at: number) => [0x20, 0x09, 0x0a, 0x0d].includes(text[at] ?? 0);
  let [start, end] = [from, to];
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return { from: start, to: end };
}

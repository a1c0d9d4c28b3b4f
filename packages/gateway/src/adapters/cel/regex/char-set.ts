/** The characters that a part of a pattern stands for. Sets with the same key hold the same characters. */
export interface CharSet {
  readonly key: string;
  readonly has: (code: number) => boolean;
}

export type Range = readonly [first: number, last: number];

export function rangesSet(ranges: readonly Range[], ignoreCase: boolean): CharSet {
  const key = `${ignoreCase ? 'i' : ''}${ranges.map(([first, last]) => `${first}-${last}`).join()}`;
  if (ignoreCase) {
    const escaped = ranges.map(([first, last]) => `${escape(first)}-${escape(last)}`).join('');
    return { key, has: tester(`[${escaped}]`, true) };
  }
  return { key, has: (code) => ranges.some(([first, last]) => code >= first && code <= last) };
}

export function unionSet(sets: readonly CharSet[]): CharSet {
  const [only] = sets;
  if (only !== undefined && sets.length === 1) return only;
  return { key: `(${sets.map((set) => set.key).join('|')})`, has: (code) => sets.some((set) => set.has(code)) };
}

export function complementSet(set: CharSet): CharSet {
  return { key: `!${set.key}`, has: (code) => !set.has(code) };
}

/** A general category such as `Lu` or a script such as `Greek`; undefined if the name is unknown. */
export function unicodeSet(name: string, ignoreCase: boolean): CharSet | undefined {
  if (!/^\w+$/.test(name)) return undefined;
  for (const property of [name, `Script=${name}`]) {
    try {
      return { key: `${ignoreCase ? 'i' : ''}p${name}`, has: tester(`\\p{${property}}`, ignoreCase) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** Tests one character against one class, so it cannot take long. */
function tester(source: string, ignoreCase: boolean): (code: number) => boolean {
  const pattern = new RegExp(`^${source}$`, ignoreCase ? 'iu' : 'u');
  return (code) => pattern.test(String.fromCodePoint(code));
}

function escape(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

export const digit = ascii('09');
export const wordCharacter = ascii('09AZ__az');
export const space = ascii('\t\n\f\r  ');
export const newline = ascii('\n\n');

/** The classes of `[[:name:]]`. */
export const posixSets: ReadonlyMap<string, CharSet> = new Map([
  ['alnum', ascii('09AZaz')],
  ['alpha', ascii('AZaz')],
  ['ascii', ascii('\0\x7f')],
  ['blank', ascii('\t\t  ')],
  ['cntrl', ascii('\0\x1f\x7f\x7f')],
  ['digit', digit],
  ['graph', ascii('!~')],
  ['lower', ascii('az')],
  ['print', ascii(' ~')],
  ['punct', ascii('!/:@[`{~')],
  ['space', ascii('\t\r  ')],
  ['upper', ascii('AZ')],
  ['word', wordCharacter],
  ['xdigit', ascii('09AFaf')],
]);

/** A set of ASCII ranges, written as pairs of first and last character. */
function ascii(pairs: string): CharSet {
  const ranges = Array.from({ length: pairs.length / 2 }, (_, at): Range => {
    return [pairs.charCodeAt(2 * at), pairs.charCodeAt(2 * at + 1)];
  });
  return rangesSet(ranges, false);
}

/**
 * Globs of the policy format, anchored at both ends: `*` any run without `/`, `**` any run, `?` one character,
 * `[…]` a set (`[!…]` its complement, ranges with `-`), `\` takes the next character as it is.
 */
export interface Glob {
  readonly source: string;
  /** The characters before the first special one: every match starts with them. */
  readonly prefix: string;
  /** Whether the prefix is all there is, so that matching is equality. */
  readonly literal: boolean;
  readonly matches: (text: string) => boolean;
}

export class GlobError extends Error {
  /** Where in the glob, counted from 0. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export function compileGlob(source: string, ignoreCase = false): Glob {
  const { pattern, prefix, literal } = translate(source);
  if (literal) {
    const wanted = ignoreCase ? prefix.toLowerCase() : prefix;
    const matches = ignoreCase ? (text: string) => text.toLowerCase() === wanted : (text: string) => text === wanted;
    return { source, prefix: wanted, literal, matches };
  }
  const regex = new RegExp(`^(?:${pattern})$`, ignoreCase ? 'ius' : 'us');
  return { source, prefix: ignoreCase ? prefix.toLowerCase() : prefix, literal, matches: (text) => regex.test(text) };
}

function translate(source: string): { pattern: string; prefix: string; literal: boolean } {
  if (source === '') throw new GlobError('a glob must not be empty', 0);
  let pattern = '';
  let prefix = '';
  let literal = true;
  for (let at = 0; at < source.length; ) {
    const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
    if (char === '*') {
      const run = /^\*+/.exec(source.slice(at))?.[0].length ?? 1;
      pattern += run === 1 ? '[^/]*' : '.*';
      literal = false;
      at += run;
    } else if (char === '?') {
      pattern += '.';
      literal = false;
      at += 1;
    } else if (char === '[') {
      const set = translateSet(source, at);
      pattern += set.pattern;
      literal = false;
      at = set.end;
    } else {
      const escaped = char === '\\';
      if (escaped && at + 1 >= source.length) throw new GlobError('a glob must not end with "\\"', at);
      const plain = escaped ? String.fromCodePoint(source.codePointAt(at + 1) ?? 0) : char;
      pattern += quote(plain);
      if (literal) prefix += plain;
      at += plain.length + (escaped ? 1 : 0);
    }
  }
  return { pattern, prefix, literal };
}

function translateSet(source: string, start: number): { pattern: string; end: number } {
  let at = start + 1;
  const negated = source[at] === '!' || source[at] === '^';
  if (negated) at++;
  const first = at;
  let members = '';
  for (; at < source.length && (source[at] !== ']' || at === first); ) {
    const low = String.fromCodePoint(source.codePointAt(at) ?? 0);
    at += low.length;
    if (source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']') {
      const high = String.fromCodePoint(source.codePointAt(at + 1) ?? 0);
      if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) {
        throw new GlobError(`the range "${low}-${high}" runs backwards`, at - low.length);
      }
      members += `${quoteInSet(low)}-${quoteInSet(high)}`;
      at += 1 + high.length;
    } else {
      members += quoteInSet(low);
    }
  }
  if (at >= source.length) throw new GlobError('"[" has no matching "]"', start);
  return { pattern: `[${negated ? '^' : ''}${members}]`, end: at + 1 };
}

/** A character that stands for itself; `-` needs its escape inside a set and may have none outside. */
function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

function quoteInSet(char: string): string {
  return char === '-' ? '\\-' : quote(char);
}

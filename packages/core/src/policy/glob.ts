import type { GlobPart } from './glob-automaton.ts';
import { automatonOf } from './glob-automaton.ts';

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

/** Where case does not count, both sides are compared in lower case, so that index and glob cannot disagree. */
export function compileGlob(source: string, ignoreCase = false): Glob {
  const { parts, prefix, literal } = translate(ignoreCase ? source.toLowerCase() : source);
  const matches = literal ? (text: string) => text === prefix : matcherOf(parts);
  return { source, prefix, literal, matches: ignoreCase ? (text) => matches(text.toLowerCase()) : matches };
}

/** How many steps a regular expression may take at worst before another way is chosen. */
const mostSteps = 250_000;

/**
 * A regular expression is fastest, but with two runs in it the time it takes may grow with the square of the text, with
 * three with its cube; and the text is the agent's to choose. So it gets texts only that are short enough.
 */
function matcherOf(parts: readonly GlobPart[]): (text: string) => boolean {
  const regex = new RegExp(`^(?:${parts.map((part) => part.pattern).join('')})$`, 'us');
  const runs = parts.filter((part) => part.run !== undefined).length;
  if (runs < 2) return (text) => regex.test(text);
  const longest = Math.floor(mostSteps ** (1 / runs));
  const automaton = automatonOf(parts);
  return (text) => (text.length <= longest ? regex.test(text) : automaton(text));
}

function translate(source: string): { parts: GlobPart[]; prefix: string; literal: boolean } {
  if (source === '') throw new GlobError('a glob must not be empty', 0);
  const parts: GlobPart[] = [];
  let prefix = '';
  let literal = true;
  for (let at = 0; at < source.length; ) {
    const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
    if (char === '*') {
      const stars = /^\*+/.exec(source.slice(at))?.[0].length ?? 1;
      parts.push(stars === 1 ? { pattern: '[^/]*', run: 'within' } : { pattern: '.*', run: 'any' });
      literal = false;
      at += stars;
    } else if (char === '?') {
      parts.push({ pattern: '.' });
      literal = false;
      at += 1;
    } else if (char === '[') {
      const set = translateSet(source, at);
      parts.push({ pattern: set.pattern });
      literal = false;
      at = set.end;
    } else {
      const escaped = char === '\\';
      if (escaped && at + 1 >= source.length) throw new GlobError('a glob must not end with "\\"', at);
      const plain = escaped ? String.fromCodePoint(source.codePointAt(at + 1) ?? 0) : char;
      parts.push({ pattern: quote(plain), char: plain });
      if (literal) prefix += plain;
      at += plain.length + (escaped ? 1 : 0);
    }
  }
  return { parts, prefix, literal };
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

import type { Charge, GlobPart } from './glob-automaton.ts';
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
  /** Whoever bounds what matching costs is told of it before it is done. */
  readonly matches: (text: string, charge?: Charge) => boolean;
}

export class GlobError extends Error {
  /** Where in the glob, counted from 0. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const free: Charge = () => {};

/** Where case does not count, both sides are compared in lower case, so that index and glob cannot disagree. */
export function compileGlob(source: string, ignoreCase = false): Glob {
  const { parts, prefix, literal } = translate(ignoreCase ? source.toLowerCase() : source);
  const matches = literal ? (text: string) => text === prefix : matcherOf(parts, prefix);
  return {
    source,
    prefix,
    literal,
    matches: (text, charge = free) => matches(ignoreCase ? text.toLowerCase() : text, charge),
  };
}

/** How much of a literal is looked for in one unit. */
const compared = 64;
const scanned = 16;

/** What is literal at both ends is compared as it is, and what is left is mostly short. */
function matcherOf(parts: readonly GlobPart[], prefix: string): (text: string, charge: Charge) => boolean {
  const firstSpecial = parts.findIndex(({ char }) => char === undefined);
  const lastSpecial = parts.findLastIndex(({ char }) => char === undefined);
  const suffix = textOf(parts.slice(lastSpecial + 1));
  const inner = innerMatcher(parts.slice(firstSpecial, lastSpecial + 1));
  const least = prefix.length + suffix.length;
  return (text, charge) => {
    if (text.length < least) return false;
    charge(least / compared);
    if (!text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    return inner(text.slice(prefix.length, text.length - suffix.length), charge);
  };
}

/** Of parts that start and end with a special one. */
function innerMatcher(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  const [first, second] = parts;
  if (second === undefined && first?.run === 'any') return () => true;
  if (second === undefined && first?.run === 'within') return (text) => !text.includes('/');
  const needed = longestLiteral(parts);
  const automaton = automatonOf(parts);
  return (text, charge) => {
    if (needed !== '') {
      charge(text.length / scanned);
      if (!text.includes(needed)) return false;
    }
    return automaton(text, charge);
  };
}

/** No longer than this, as the time that a text is looked for may grow with its length. */
const longestNeeded = 8;

/** A text that must be there: the longest literal of the parts, or its beginning. */
function longestLiteral(parts: readonly GlobPart[]): string {
  let longest = '';
  let at = '';
  for (const { char } of parts) {
    at = char === undefined ? '' : at + char;
    if (at.length > longest.length && at.length <= longestNeeded) longest = at;
  }
  return longest;
}

function textOf(parts: readonly GlobPart[]): string {
  return parts.map(({ char = '' }) => char).join('');
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
      parts.push({ run: stars === 1 ? 'within' : 'any' });
      literal = false;
      at += stars;
    } else if (char === '?') {
      parts.push({});
      literal = false;
      at += 1;
    } else if (char === '[') {
      const set = translateSet(source, at);
      parts.push({ set: set.pattern });
      literal = false;
      at = set.end;
    } else {
      const escaped = char === '\\';
      if (escaped && at + 1 >= source.length) throw new GlobError('a glob must not end with "\\"', at);
      const plain = escaped ? String.fromCodePoint(source.codePointAt(at + 1) ?? 0) : char;
      parts.push({ char: plain });
      if (literal) prefix += plain;
      at += plain.length + (escaped ? 1 : 0);
    }
  }
  return { parts, prefix, literal };
}

function translateSet(source: string, start: number): { pattern: RegExp; end: number } {
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
  return { pattern: new RegExp(`^[${negated ? '^' : ''}${members}]$`, 'us'), end: at + 1 };
}

/** A character that stands for itself in a set; `-` has its own escape. */
function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

function quoteInSet(char: string): string {
  return char === '-' ? '\\-' : quote(char);
}

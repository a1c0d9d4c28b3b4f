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
  /** Calls `charge` before the work, so that the caller can bound the cost. */
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

/** If case does not count, both sides are compared in lower case, so that index and glob cannot disagree. */
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

/** How many characters one unit compares, or scans. */
const compared = 64;
const scanned = 16;

/** Compares the literal ends as they are. What is left is mostly short. */
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

/** For parts that start and end with a special one. */
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

/** The limit of the needed literal: the time to search for a text may grow with its length. */
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

/** The parts of a glob, for those who match it in their own way. */
export function globParts(source: string): readonly GlobPart[] {
  return translate(source).parts;
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

/** Escapes a character for a pattern. In a set, `-` needs an escape, too. */
function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

function quoteInSet(char: string): string {
  return char === '-' ? '\\-' : quote(char);
}

export interface GlobPart {
  /** For a set: the pattern of one character. */
  readonly set?: RegExp;
  /** For `*`: a run `within` one part of a path. For `**`: `any` run. Two runs never stand side by side. */
  readonly run?: 'within' | 'any';
  /** For a character that stands for itself. */
  readonly char?: string;
}

/** Learns the cost of matching before the work, and may throw. A unit is about 10 ns. */
export type Charge = (units: number) => void;

type Step = (char: string) => boolean;

/** Up to this many parts have one bit each in a number. */
const mostBits = 30;
const unitsPerStep = 0.5;
const priceOfMasks = 50;
const unitsPerPlace = 2;

/**
 * Follows all ways through a glob at once, character by character. The time is at most the length of the text times the
 * length of the glob.
 */
export function automatonOf(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  return parts.length <= mostBits ? bitAutomaton(parts) : placeAutomaton(parts);
}

/** Each bit of a number is a place in the glob, so a character is one step for all places. */
function bitAutomaton(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  const runs = parts.reduce((bits, { run }, at) => (run === undefined ? bits : bits | (1 << at)), 0);
  const end = 1 << parts.length;
  const start = 1 | ((1 & runs) << 1);
  let masks: CharMasks | undefined;
  return (text, charge) => {
    charge(text.length * unitsPerStep);
    if (masks === undefined) {
      charge(priceOfMasks);
      masks = new CharMasks(parts);
    }
    let places = start;
    const { ascii } = masks;
    for (let at = 0; at < text.length; at++) {
      let mask = ascii[text.charCodeAt(at)] ?? -1;
      if (mask < 0) {
        const code = text.codePointAt(at) ?? 0;
        if (code > 0xffff) at++;
        mask = masks.of(code, charge);
      }
      const taken = places & mask;
      const reached = ((taken & ~runs) << 1) | (taken & runs);
      places = reached | ((reached & runs) << 1);
      if (places === 0) return false;
    }
    return (places & end) !== 0;
  };
}

const mostCharacters = 1024;

/** Which parts accept a character, computed when it first occurs. */
class CharMasks {
  readonly #steps: readonly Step[];
  /** Below 0: not computed yet. */
  readonly ascii = new Int32Array(128).fill(-1);
  readonly #others = new Map<number, number>();

  constructor(parts: readonly GlobPart[]) {
    this.#steps = parts.map(stepOf);
  }

  of(code: number, charge: Charge): number {
    return this.#others.get(code) ?? this.#make(code, charge);
  }

  #make(code: number, charge: Charge): number {
    charge(this.#steps.length * unitsPerPlace);
    const char = String.fromCodePoint(code);
    let mask = 0;
    for (const [at, step] of this.#steps.entries()) if (step(char)) mask |= 1 << at;
    if (code < 128) this.ascii[code] = mask;
    else {
      if (this.#others.size >= mostCharacters) this.#others.clear();
      this.#others.set(code, mask);
    }
    return mask;
  }
}

/** The same, for globs with more parts than a number has bits. */
function placeAutomaton(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  const runs = parts.map((part) => part.run !== undefined);
  let steps: readonly Step[] | undefined;
  return (text, charge) => {
    steps ??= parts.map(stepOf);
    let places = withoutRuns([0], runs);
    for (const char of text) {
      charge(places.length * unitsPerPlace);
      const next: number[] = [];
      for (const place of places) {
        if (steps[place]?.(char) === true) next.push(runs[place] === true ? place : place + 1);
      }
      if (next.length === 0) return false;
      places = withoutRuns(next, runs);
    }
    return places.at(-1) === parts.length;
  };
}

function stepOf({ set, run, char }: GlobPart): Step {
  if (run === 'within') return (here) => here !== '/';
  if (char !== undefined) return (here) => here === char;
  return set === undefined ? () => true : (here) => set.test(here);
}

/** Adds the places that an empty run leads to. The result is in rising order, each place once. */
function withoutRuns(places: readonly number[], runs: readonly boolean[]): number[] {
  const all: number[] = [];
  for (const place of places) {
    for (let reached = place; ; reached++) {
      if ((all.at(-1) ?? -1) < reached) all.push(reached);
      if (runs[reached] !== true) break;
    }
  }
  return all;
}

import type { GlobPart } from './glob.ts';
import { GlobError, globParts } from './glob.ts';

/** What a glob has captured, by name. */
export type Captures = ReadonlyMap<string, string>;

/** A glob with captures: `{name:glob}` keeps what its glob matches. `\{` is a brace. */
export interface CaptureGlob {
  readonly source: string;
  /** The names of its captures, in order. */
  readonly names: readonly string[];
  /**
   * What it captures of a text that matches; undefined if the text does not. A capture is not empty, and holds nothing
   * but letters, digits, `.`, `_` and `-`. A text whose captures could be taken in two ways does not match: whoever
   * chooses a part of it could choose where another part ends.
   */
  match(text: string): Captures | undefined;
}

interface Step extends GlobPart {
  /** The capture that it belongs to; -1: none. */
  readonly capture: number;
}

const idCharacter = /^[A-Za-z0-9._-]$/;

export function compileCaptureGlob(source: string): CaptureGlob {
  const names: string[] = [];
  const steps: Step[] = [];
  const add = (text: string, offset: number, capture: number) => {
    if (text === '' && capture < 0) return;
    for (const part of partsAt(text, offset)) steps.push({ ...part, capture });
  };
  let plainFrom = 0;
  for (let at = 0; at < source.length; at++) {
    if (source[at] === '\\') {
      at++;
    } else if (source[at] === '{') {
      const { name, glob, globAt, end } = captureAt(source, at);
      if (names.includes(name)) throw new GlobError(`"${name}" is captured twice`, at);
      add(source.slice(plainFrom, at), plainFrom, -1);
      add(glob, globAt, names.push(name) - 1);
      at = end;
      plainFrom = end + 1;
    }
  }
  add(source.slice(plainFrom), plainFrom, -1);
  if (steps.length === 0) throw new GlobError('a glob must not be empty', 0);
  return { source, names, match: (text) => capturesOf(steps, names, text) };
}

function partsAt(text: string, offset: number): readonly GlobPart[] {
  try {
    return globParts(text);
  } catch (error) {
    if (error instanceof GlobError) throw new GlobError(error.message, error.offset + offset);
    throw error;
  }
}

/** The capture that begins at a brace. */
function captureAt(source: string, start: number): { name: string; glob: string; globAt: number; end: number } {
  const head = /^\{(?<name>[A-Za-z_][A-Za-z0-9_]*):/.exec(source.slice(start));
  const name = head?.groups?.['name'];
  if (head === null || name === undefined) {
    throw new GlobError('"{" begins a capture as {name:glob}; write "\\{" for a brace', start);
  }
  const globAt = start + head[0].length;
  let end = globAt;
  while (end < source.length && source[end] !== '}') end += source[end] === '\\' ? 2 : 1;
  if (end >= source.length) throw new GlobError('"{" has no matching "}"', start);
  return { name, glob: source.slice(globAt, end), globAt, end };
}

/** Where the captures of one way through the glob begin and end in the text, by their numbers. */
type Way = readonly number[];

/** The ways that have come to each step that may be next. */
type Places = Map<number, Way[]>;

/** A longer text does not match. No name of a workload is longer, and others wait meanwhile. */
const longestText = 2048;

/** Two different ways into the same place are as good as many: whatever follows, both go on or none. */
const mostWays = 2;

/**
 * Follows all ways at once, character by character, and keeps two of those that come to the same place. The time is at
 * most the length of the text times the length of the glob.
 */
function capturesOf(steps: readonly Step[], names: readonly string[], text: string): Captures | undefined {
  if (text.length > longestText) return undefined;
  const chars = Array.from(text);
  let places: Places = new Map();
  enter(steps, places, 0, 0, []);
  for (const [at, char] of chars.entries()) {
    const next: Places = new Map();
    for (const [place, ways] of places) {
      const step = steps[place];
      if (step === undefined || !takes(step, char)) continue;
      for (const way of ways) {
        if (step.run === undefined) enter(steps, next, place + 1, at + 1, way);
        else arrive(steps, next, place, at + 1, way);
      }
    }
    places = next;
  }
  const [only, another] = places.get(steps.length) ?? [];
  if (only === undefined || another !== undefined) return undefined;
  return new Map(names.map((name, index) => [name, chars.slice(only[index * 2], only[index * 2 + 1]).join('')]));
}

function takes({ run, char, set, capture }: Step, given: string): boolean {
  if (capture >= 0 && !idCharacter.test(given)) return false;
  if (run !== undefined) return run === 'any' || given !== '/';
  if (set !== undefined) return set.test(given);
  return char === undefined || char === given;
}

/** Goes from the step before to a place. A capture that it leaves must hold something. */
function enter(steps: readonly Step[], places: Places, place: number, at: number, way: Way): void {
  const left = steps[place - 1]?.capture ?? -1;
  const entered = steps[place]?.capture ?? -1;
  if (left === entered) {
    arrive(steps, places, place, at, way);
    return;
  }
  if (left >= 0 && way[left * 2] === at) return;
  const bounds = [...way];
  if (left >= 0) bounds[left * 2 + 1] = at;
  if (entered >= 0) bounds[entered * 2] = at;
  arrive(steps, places, place, at, bounds);
}

/** A run may be over before it takes anything. */
function arrive(steps: readonly Step[], places: Places, place: number, at: number, way: Way): void {
  const known = places.get(place) ?? [];
  if (known.some((other) => isSame(other, way))) return;
  // Of a capture that is still empty, less can follow. So those ways are counted apart.
  const start = (steps[place]?.capture ?? -1) * 2;
  const alike = known.filter((other) => (other[start] === at) === (way[start] === at));
  if (alike.length >= mostWays) return;
  known.push(way);
  places.set(place, known);
  if (steps[place]?.run !== undefined) enter(steps, places, place + 1, at, way);
}

function isSame(one: Way, other: Way): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

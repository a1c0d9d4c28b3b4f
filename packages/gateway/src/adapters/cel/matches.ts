import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { Automaton } from './regex/automaton.ts';
import { parsePattern } from './regex/parse-pattern.ts';
import { PatternError } from './regex/pattern.ts';
import type { Program } from './regex/program.ts';
import { programOf } from './regex/program.ts';
import { textIn } from './text-functions.ts';

/** Throws a `PatternError`. */
export function compilePattern(source: string): Automaton {
  return new Automaton(programFor(source));
}

/** Programs do not change, so rules and documents with the same pattern share one. The latest are cached. */
const mostAtHand = 64;
const atHand = new Map<string, Program>();

/** Throws a `PatternError`. */
export function programFor(source: string): Program {
  const program = atHand.get(source) ?? programOf(parsePattern(source));
  atHand.delete(source);
  atHand.set(source, program);
  const [oldest] = atHand.keys();
  if (atHand.size > mostAtHand && oldest !== undefined) atHand.delete(oldest);
  return program;
}

/** How many instructions a pattern becomes; 0 for a wrong pattern, which fails where it is used. */
export function instructionsIn(source: string): number {
  try {
    return programFor(source).size;
  } catch (error) {
    if (error instanceof PatternError) return 0;
    throw error;
  }
}

export function matchesPattern(frame: Frame, of: unknown, pattern: Automaton): boolean {
  return pattern.matches(textIn(of, 'matches'), (units) => frame.charge(units));
}

/** Patterns that are computed at run time must be short, and the latest automatons are cached. */
const longestMade = 1000;
const mostKept = 32;
const kept = new Map<string, Automaton>();

/** Matches a pattern that is computed at run time. */
export function matches(frame: Frame, of: unknown, pattern: unknown): boolean {
  return matchesPattern(frame, of, automatonOf(frame, textIn(pattern, 'matches')));
}

function automatonOf(frame: Frame, source: string): Automaton {
  const known = kept.get(source);
  if (known !== undefined) return known;
  if (source.length > longestMade) throw fault(`a pattern that is not a literal may have ${longestMade} characters`);
  frame.charge(priceOf(source));
  try {
    const made = compilePattern(source);
    if (kept.size >= mostKept) kept.clear();
    kept.set(source, made);
    return made;
  } catch (error) {
    if (error instanceof PatternError) throw fault('the pattern is not a regular expression of RE2');
    throw error;
  }
}

/** Counted repetitions are expanded, up to the largest program allowed. */
function priceOf(source: string): number {
  return source.includes('{') ? 100_000 : 200 * (source.length + 10);
}

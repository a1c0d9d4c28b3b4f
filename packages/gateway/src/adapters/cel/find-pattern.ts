import type { FindPattern } from '@reeve/core';
import { ConditionError } from '@reeve/core';
import { programFor } from './matches.ts';
import { Finder } from './regex/finder.ts';
import { assertions, PatternError } from './regex/pattern.ts';
import type { Program } from './regex/program.ts';
import { operation } from './regex/program.ts';
import { argumentAt, operationAt } from './regex/steps.ts';

/** Compiles a pattern of a mask, in the syntax of RE2. Throws a `ConditionError`. */
export function findPattern(source: string): FindPattern {
  const program = programOf(source);
  let finder: Finder | undefined;
  const find: FindPattern['find'] = (text, charge) => {
    finder ??= new Finder(program);
    return finder.find(text, charge);
  };
  return { find: Object.assign(find, { breaksAfter: breaksAfter(program) }), instructions: program.size };
}

/**
 * No match goes over a character that the pattern takes nowhere. The edge of a text must look like that character to it: one
 * that is no part of a word does, unless the pattern looks for the edges of a text, or for those of lines within one.
 */
function breaksAfter(program: Program): (character: string) => boolean {
  let [looksAtText, looksAtLines] = [false, false];
  for (let place = 0; place < program.size; place++) {
    if (operationAt(program, place) !== operation.assert) continue;
    const assertion = assertions[argumentAt(program, place)];
    looksAtText ||= assertion === 'textStart' || assertion === 'textEnd';
    looksAtLines ||= assertion === 'lineStart' || assertion === 'lineEnd';
  }
  return (character) =>
    !looksAtText &&
    (!looksAtLines || character === '\n') &&
    !/[\w\uD800-\uDFFF]/.test(character) &&
    !program.sets.some((set) => set.has(character.charCodeAt(0)));
}

function programOf(source: string): ReturnType<typeof programFor> {
  try {
    return programFor(source);
  } catch (error) {
    if (error instanceof PatternError) throw new ConditionError(error.message, 0);
    throw error;
  }
}

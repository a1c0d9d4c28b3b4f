import type { FindPattern } from '@reeve/core';
import { ConditionError } from '@reeve/core';
import { programFor } from './matches.ts';
import { Finder } from './regex/finder.ts';
import { PatternError } from './regex/pattern.ts';

/** Compiles a pattern of a mask, in the syntax of RE2. Throws a `ConditionError`. */
export function findPattern(source: string): FindPattern {
  const program = programOf(source);
  let finder: Finder | undefined;
  return {
    find: (text, charge) => {
      finder ??= new Finder(program);
      return finder.find(text, charge);
    },
    instructions: program.size,
  };
}

function programOf(source: string): ReturnType<typeof programFor> {
  try {
    return programFor(source);
  } catch (error) {
    if (error instanceof PatternError) throw new ConditionError(error.message, 0);
    throw error;
  }
}

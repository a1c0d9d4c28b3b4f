import type { Glob } from '../kernel/glob.ts';
import { compileGlob } from '../kernel/glob.ts';
import { compileHostGlob } from './host-glob.ts';
import { compilePathGlob } from './path-glob.ts';
import type { Dimension } from './subject.ts';

/** Of hosts and paths one form of all spellings counts. */
const compilers: Partial<Record<Dimension, (source: string) => Glob>> = {
  hosts: compileHostGlob,
  paths: compilePathGlob,
};

/** A glob of one dimension, as rules compare it. */
export function compileGlobOf(dimension: Dimension, source: string): Glob {
  return compilers[dimension]?.(source) ?? compileGlob(source);
}

/** Globs of one source: the same text is compiled once, however often aliases repeat it. */
export class SourceGlobs {
  readonly #compiled = new Map<string, Glob>();

  compile(dimension: Dimension, text: string): Glob {
    const key = `${dimension} ${text}`;
    const known = this.#compiled.get(key) ?? compileGlobOf(dimension, text);
    this.#compiled.set(key, known);
    return known;
  }
}

import type { Glob } from '../kernel/glob.ts';
import { compileGlob } from '../kernel/glob.ts';

/** A glob of paths. Paths are compared as they are in a `file:` URL, so one that is written as such loses the lead. */
export function compilePathGlob(source: string): Glob {
  return { ...compileGlob(source.replace(/^file:(?:\/\/(?:localhost)?)?(?=\/)/i, '')), source };
}

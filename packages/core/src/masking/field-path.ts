import type { Glob } from '../kernel/index.ts';
import { compileGlob, GlobError } from '../kernel/index.ts';

/** One step of a path: a member or an item by its name, any one (`*`), or any number of them (`**`). */
type Step = { readonly glob: Glob } | { readonly literal: string } | 'one' | 'any';

/** Which members of a JSON text a field of a policy names. */
export interface FieldPath {
  readonly source: string;
  readonly steps: readonly Step[];
}

const step = /"((?:[^"\\]|\\.)*)"|([^."$[\]]+)/y;
/** Each `**` multiplies the ways in which a path may match. */
const mostSteps = 16;

/**
 * Reads members by dots, items by index, `*`, `**`, and names with dots in quotes. Throws a `GlobError`. What other
 * languages of paths begin with, `$` and `[`, would never match, so it is refused outside of quotes.
 */
export function parseFieldPath(source: string): FieldPath {
  const steps: Step[] = [];
  for (let at = 0; ; at++) {
    step.lastIndex = at;
    const found = step.exec(source);
    if (found === null) throw new GlobError('a name is missing', at);
    if (steps.length === mostSteps) throw new GlobError(`a path has at most ${mostSteps} names`, at);
    const [whole, quoted, bare = ''] = found;
    const next = quoted === undefined ? stepOf(bare) : { literal: quoted.replaceAll(/\\(.)/g, '$1') };
    // `**.**` says no more than `**`.
    if (next !== 'any' || steps.at(-1) !== 'any') steps.push(next);
    at += whole.length;
    if (at === source.length) return { source, steps };
    if (source.charAt(at) !== '.') throw new GlobError('a dot is missing', at);
  }
}

function stepOf(text: string): Step {
  if (text === '*') return 'one';
  if (text === '**') return 'any';
  return text.includes('*') ? { glob: compileGlob(text) } : { literal: text };
}

/** How far the paths have matched on the way to a value: for each path, the steps that may come next. */
export type Progress = readonly (readonly [path: FieldPath, next: number])[];

export function startOf(paths: readonly FieldPath[]): Progress {
  return paths.flatMap((path) => reached(path, 0));
}

/** The progress after one more name. */
export function advance(progress: Progress, name: string): Progress {
  const next: [FieldPath, number][] = [];
  for (const [path, at] of progress) {
    const here = path.steps[at];
    if (here === undefined || !takes(here, name)) continue;
    for (const each of reached(path, here === 'any' ? at : at + 1)) {
      if (!next.some(([other, place]) => other === each[0] && place === each[1])) next.push(each);
    }
  }
  return next;
}

/** Whether a path names the value itself. */
export function isNamed(progress: Progress): boolean {
  return progress.some(([path, at]) => at === path.steps.length);
}

/** `**` may also stand for nothing. */
function reached(path: FieldPath, at: number): [FieldPath, number][] {
  return path.steps[at] === 'any' ? [[path, at], ...reached(path, at + 1)] : [[path, at]];
}

function takes(here: Step, name: string): boolean {
  if (here === 'one' || here === 'any') return true;
  return 'glob' in here ? here.glob.matches(name) : here.literal === name;
}

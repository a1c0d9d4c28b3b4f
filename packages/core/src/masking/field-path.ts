import type { Charge, Glob } from '../kernel/index.ts';
import { compileGlob, GlobError } from '../kernel/index.ts';

/** One step of a path: a member or an item by its name, any one (`*`), or any number of them (`**`). */
type Step = NamedStep | 'one' | 'any';
type NamedStep = { readonly glob: Glob } | { readonly literal: string };

/** Which members of a JSON text a field of a policy names. */
export interface FieldPath {
  readonly source: string;
  readonly steps: readonly Step[];
  /** The steps that are `**`, as bits. */
  readonly anys: number;
  /** The steps that every name takes, as bits. */
  readonly wilds: number;
}

const step = /"((?:[^"\\]|\\.)*)"|([^."$[\]]+)/y;
/** Each has a bit in a number, and so has the end. */
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
    if (at === source.length) return { source, steps, anys: bitsOf(steps, 'any'), wilds: bitsOf(steps, 'any', 'one') };
    if (source.charAt(at) !== '.') throw new GlobError('a dot is missing', at);
  }
}

function stepOf(text: string): Step {
  if (text === '*') return 'one';
  if (text === '**') return 'any';
  return text.includes('*') ? { glob: compileGlob(text) } : { literal: text };
}

function bitsOf(steps: readonly Step[], ...kinds: readonly Step[]): number {
  return steps.reduce((bits, here, at) => (kinds.includes(here) ? bits | (1 << at) : bits), 0);
}

/** How far the paths have matched on the way to a value: for each that still may, the steps that come next, as bits. */
export type Progress = readonly (readonly [path: FieldPath, next: number])[];

export function startOf(paths: readonly FieldPath[]): Progress {
  return paths.map((path) => [path, reached(path, 1)]);
}

/** For each path that a name is held against, in units of cost. */
const priceOfPath = 20;
/** How many characters one unit compares. */
const compared = 64;

/** The progress after one more name. However many ways there are through a path, it is looked at once. */
export function advance(progress: Progress, name: string, charge: Charge): Progress {
  charge(progress.length * priceOfPath);
  const next: [FieldPath, number][] = [];
  for (const [path, places] of progress) {
    const taken = takenBy(path, places, name, charge);
    if (taken !== 0) next.push([path, reached(path, (taken & path.anys) | ((taken & ~path.anys) << 1))]);
  }
  return next;
}

/** Whether a path names the value itself. */
export function isNamed(progress: Progress): boolean {
  return progress.some(([path, places]) => (places & (1 << path.steps.length)) !== 0);
}

/** Whether members with these names may be on a way that a path takes from here on. */
export function mayName(progress: Progress, names: Iterable<string>, charge: Charge): boolean {
  const missing = progress.map(([path, places]) => namedAfter(path, places));
  let hasNames = false;
  for (const name of names) {
    hasNames = true;
    charge(progress.length * priceOfPath);
    for (const [nth, [path]] of progress.entries()) {
      const left = missing[nth] ?? 0;
      missing[nth] = left & ~takenBy(path, left, name, charge);
    }
  }
  return hasNames && missing.includes(0);
}

/** The steps from the first of these places on that only some names take. The index of an item is no name. */
function namedAfter({ steps, wilds }: FieldPath, places: number): number {
  const first = places & -places;
  return steps.reduce((bits, here, at) => {
    const isIndex = typeof here === 'object' && 'literal' in here && /^\d+$/.test(here.literal);
    return isIndex || 1 << at < first ? bits : bits | ((1 << at) & ~wilds);
  }, 0);
}

/** `**` may also stand for nothing. No two of them stand side by side. */
function reached({ anys }: FieldPath, places: number): number {
  return places | ((places & anys) << 1);
}

/** The steps at these places that take the name. */
function takenBy({ steps, wilds }: FieldPath, places: number, name: string, charge: Charge): number {
  let taken = places & wilds;
  for (let rest = places & ~wilds; rest !== 0; rest &= rest - 1) {
    const bit = rest & -rest;
    const here = steps[31 - Math.clz32(bit)];
    if (typeof here === 'object' && takes(here, name, charge)) taken |= bit;
  }
  return taken;
}

function takes(here: NamedStep, name: string, charge: Charge): boolean {
  if ('literal' in here && here.literal.length !== name.length) return false;
  charge(name.length / compared);
  return 'glob' in here ? here.glob.matches(name, charge) : here.literal === name;
}

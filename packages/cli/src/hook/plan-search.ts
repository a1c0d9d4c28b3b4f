import { posix } from 'node:path';
import type { PlannedAction } from './hook-event.ts';
import type { ToolPlace } from './plan-actions.ts';
import { absolute, bounded, planFile, planUnreadable } from './plan-actions.ts';
import { expandBraces } from './shell/brace-expansion.ts';

/** A search in files: what it may show is in the folder, or in the files that a pattern names. */
export function planSearch(
  folders: readonly string[],
  patterns: readonly string[],
  place: ToolPlace,
): readonly PlannedAction[] {
  const places = folders.length === 0 ? [place.cwd] : folders;
  return bounded(
    places.flatMap((where) => [
      { ...planFile('read', where, place), isDeep: true },
      ...patterns.flatMap((pattern) =>
        eachOf(pattern, (one) => [planFile('read', posix.join(absolute(where, place), one), place)]),
      ),
    ]),
  );
}

/** A search for files by a pattern, which may lead out of the folder. What it may show is below the part without a pattern. */
export function planGlob(
  folders: readonly string[],
  patterns: readonly string[],
  place: ToolPlace,
): readonly PlannedAction[] {
  if (patterns.length === 0) return planSearch(folders, [], place);
  const places = folders.length === 0 ? [place.cwd] : folders;
  return bounded(
    places.flatMap((where) =>
      patterns.flatMap((pattern) => eachOf(pattern, (one) => inFolder(one, { ...place, cwd: absolute(where, place) }))),
    ),
  );
}

const special = /[*?[\]{}()!\\]/;

function inFolder(pattern: string, place: ToolPlace): readonly PlannedAction[] {
  const parts = pattern.split('/');
  const at = parts.findIndex((part) => special.test(part));
  const rest = at < 0 ? [] : parts.slice(at);
  if (rest.some(isParent)) return [planUnreadable('the pattern leads to another folder', [pattern])];
  const fixed = parts.slice(0, parts.length - rest.length).join('/');
  const isRoot = fixed === '' && pattern.startsWith('/');
  const start = planFile('read', isRoot ? '/' : fixed === '' ? place.cwd : fixed, place);
  const { action } = start;
  if (rest.length === 0 || action.type !== 'file_operation') return [start];
  return [{ ...start, isDeep: true }, planFile('read', posix.join(action.path, ...rest), place)];
}

/** A pattern that stands for one name, such as `[.][.]`, is that name. */
function isParent(part: string): boolean {
  return part.replaceAll(/\[(.)\]|\\(.)/gs, '$1$2') === '..';
}

/** The same for each alternative in braces. */
function eachOf(pattern: string, plan: (one: string) => readonly PlannedAction[]): readonly PlannedAction[] {
  const cells = Array.from(pattern, (text) => ({ text, quoted: false, unknown: false }));
  const words = expandBraces(cells)?.map((word) => word.map(({ text }) => text).join(''));
  return words?.flatMap(plan) ?? [planUnreadable('the pattern has too many alternatives', [pattern.slice(0, 256)])];
}

import { posix } from 'node:path';
import { expandPattern } from './expand-pattern.ts';
import type { PlannedAction } from './hook-event.ts';
import { bounded, planUnreadable } from './plan-actions.ts';

const { realpathSync } = process.getBuiltinModule('node:fs');

/**
 * The actions, and the same on the files that patterns stand for and that links lead to. All must be allowed: a link gives a
 * file another name.
 */
export function withRealPaths(actions: readonly PlannedAction[]): readonly PlannedAction[] {
  const real = actions.flatMap((planned) => [
    ...(planned.isPattern === true ? expanded(planned) : []),
    ...linked(planned),
  ]);
  return bounded([...actions, ...real]);
}

function expanded({ action }: PlannedAction): readonly PlannedAction[] {
  if (action.type !== 'file_operation') return [];
  const paths = expandPattern(action.path);
  const note = `by the pattern ${action.path}`;
  if (paths === undefined) return [{ ...planUnreadable(`${note}, which stands for too many files`), isReal: true }];
  const found = paths.map((path) => ({ action: { ...action, path }, note, isReal: true }));
  return found.flatMap((planned) => [planned, ...linked(planned)]);
}

function linked({ action }: PlannedAction): readonly PlannedAction[] {
  if (action.type !== 'file_operation' || !action.path.startsWith('/')) return [];
  const path = realPathOf(action.path);
  return path === action.path ? [] : [{ action: { ...action, path }, note: `by a link: ${action.path}`, isReal: true }];
}

/** Where the path leads now. Of a file that is not there yet, where its folder leads. */
function realPathOf(path: string): string {
  let missing = '';
  for (let known = path; known !== '/'; known = posix.dirname(known)) {
    try {
      return posix.join(realpathSync(known), missing);
    } catch {
      missing = posix.join(posix.basename(known), missing);
    }
  }
  return path;
}

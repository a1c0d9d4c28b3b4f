import { posix } from 'node:path';
import type { PlannedAction } from './hook-event.ts';
import { bounded } from './plan-actions.ts';

const { realpathSync } = process.getBuiltinModule('node:fs');

/** The actions, and the same on the files that links lead to. Both must be allowed: a link gives a file another name. */
export function withRealPaths(actions: readonly PlannedAction[]): readonly PlannedAction[] {
  const real = actions.flatMap(({ action }) => {
    if (action.type !== 'file_operation' || !action.path.startsWith('/')) return [];
    const path = realPathOf(action.path);
    return path === action.path
      ? []
      : [{ action: { ...action, path }, note: `by a link: ${action.path}`, isReal: true }];
  });
  return real.length === 0 ? actions : bounded([...actions, ...real]);
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

import { FloorError } from '../floor-error.ts';

/** The kernel takes 4095 bytes, and bubblewrap puts a folder of its own before them. */
const longestPath = 4087;
/** What stands for bytes that are no UTF-8. Such a path leads to something else, or to nothing. */
const noText = '\u{fffd}';

export function isText(path: string): boolean {
  return !path.includes(noText);
}

/** Refuses what nothing can be mounted on, because its path cannot be said. */
export function requireNames(paths: readonly string[]): void {
  for (const path of paths) {
    if (!isText(path)) throw cannotHold(path, 'its name is not UTF-8');
    if (Buffer.byteLength(path) > longestPath) throw cannotHold(path, 'its path is too long');
  }
}

function cannotHold(path: string, why: string): FloorError {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new FloorError(`${shown} cannot be held or hidden, because ${why}; rename or remove it`);
}

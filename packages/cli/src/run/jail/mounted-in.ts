import { lstatSync } from 'node:fs';
import { isInside } from './inside.ts';
import type { Mount } from './plan-files.ts';
import { mountPointsOf } from './top-names.ts';

/**
 * The mounts of a plan that count in a jail, by its first process. Whoever replaces a name outside takes the mount away that a jail
 * has on it, and a link in the place of a name leads a mount elsewhere, or something else to it.
 */
export function mountedIn(first: number, mounts: readonly Mount[]): readonly Mount[] {
  const points = mountPointsOf(first);
  return mounts.filter(
    (mount, at) => points.has(mount.path) && (isOwn(mount, mounts.slice(at + 1)) || isSame(mount, first)),
  );
}

/** Whether it shows nothing of outside, or something that does so is mounted over it. */
function isOwn({ as, path }: Mount, later: readonly Mount[]): boolean {
  return !isFromOutside(as) || later.some((over) => !isFromOutside(over.as) && isInside(path, over.path));
}

function isFromOutside(as: Mount['as']): boolean {
  return as === 'read' || as === 'write';
}

function isSame({ path }: Mount, first: number): boolean {
  try {
    const [outside, inside] = [path, `/proc/${first}/root${path}`].map((name) => lstatSync(name, { bigint: true }));
    return outside?.ino === inside?.ino && outside?.dev === inside?.dev;
  } catch {
    return false;
  }
}

import { isInside } from './inside.ts';
import type { FilePlan, Mount } from './plan-files.ts';

type Planned = Pick<FilePlan, 'folder' | 'mounts'>;

/** Whether a jail that was made by a plan holds all that a later plan would hold. */
export function stillHolds(made: Planned, now: Planned): boolean {
  return made.folder === now.folder && now.mounts.every((mount) => isHeldBy(mount, made.mounts));
}

/** By the same mount; or, where nothing but writing is to be kept from it, by one above it that is read-only. */
function isHeldBy({ as, path }: Mount, mounts: readonly Mount[]): boolean {
  if (mounts.some((mount) => mount.path === path && mount.as === as)) return true;
  if (as !== 'read' && as !== 'write') return false;
  return mounts.findLast((mount) => isInside(path, mount.path))?.as === 'read';
}

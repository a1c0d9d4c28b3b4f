import type { Dirent } from 'node:fs';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInside, isInsideAny } from '../jail/inside.ts';
import type { FilePlan, Mount } from '../jail/plan-files.ts';
import type { LockRule } from './lock-steps.ts';
import type { Use } from './rights.ts';

/**
 * What the kernel lets a program do with files by Landlock, beside the mounts: it may change what is mounted for it, read what is
 * outside of the home folders, and list folders. Paths are looked up inside. A rule for `/home` would also hold for what lies
 * below a mount there, so the folders on the way to a home are given by what is in them.
 */
export function lockRules({ mounts: planned, homes }: Pick<FilePlan, 'mounts' | 'homes'>): readonly LockRule[] {
  const mounts = planned.filter((mount, at) => !isCovered(mount, planned.slice(at + 1)));
  const changed = mounts.filter((mount) => mount.as === 'write' || isOwnAndWritable(mount)).map(({ path }) => path);
  const read = mounts.filter(({ as }) => as === 'read').map(({ path }) => path);
  const empty = mounts.filter(({ as }) => as === 'empty').map(({ path }) => path);
  const ruleFor = (path: string, use: Use): LockRule => {
    // What is empty inside need not be there outside, and who starts it need not be let in there. What is gone, the kernel refuses.
    const isFolder = empty.includes(path) || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true);
    return { path, use, isFolder, isNeeded: true };
  };
  return [
    folder('/', 'list', true),
    folder('/dev', 'change', true),
    folder('/proc', 'write', true),
    ...outermost(changed).map((path) => ruleFor(path, 'change')),
    ...outermost(read.filter((path) => !isInsideAny(path, changed))).map((path) => ruleFor(path, 'read')),
    ...readableIn('/', homes, empty),
  ];
}

/** Whether something empty is mounted over it, so that it is not there. */
function isCovered({ path }: Mount, later: readonly Mount[]): boolean {
  return later.some(({ as, path: over }) => as === 'empty' && over !== path && isInside(path, over));
}

function isOwnAndWritable(mount: Mount): boolean {
  return mount.as === 'empty' && mount.isWritable;
}

function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(path, other)));
}

function folder(path: string, use: Use, isNeeded: boolean): LockRule {
  return { path, use, isFolder: true, isNeeded };
}

/** What is in a folder on the way to a home. Links lead to what has a rule of its own, or to a home. */
function readableIn(parent: string, homes: readonly string[], empty: readonly string[]): readonly LockRule[] {
  const entries = entriesOf(parent);
  // Nobody knows what else is there. The mounts alone hold it.
  if (entries === undefined) return [folder(parent, 'read', false)];
  return entries.flatMap((entry): readonly LockRule[] => {
    const path = join(parent, entry.name);
    if (entry.isFile()) return [{ path, use: 'read', isFolder: false, isNeeded: false }];
    if (!entry.isDirectory() || homes.includes(path)) return [];
    const leadsHome = homes.some((home) => isInside(home, path)) && !empty.includes(path);
    return leadsHome ? readableIn(path, homes, empty) : [folder(path, 'read', false)];
  });
}

function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

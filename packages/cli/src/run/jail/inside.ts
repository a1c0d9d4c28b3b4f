import { sep } from 'node:path';

/** Whether a path is the folder or something in it. Both are absolute and without links. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : `${folder}${sep}`);
}

/** Whether a path is in one of the folders, or is one of them. */
export function isInsideAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(path, folder));
}

import { statfs } from 'node:fs/promises';
import { BackupError } from './manifest.ts';

/** Stays free, because a gateway that writes to the same disk denies everything once that is full. */
const keptBytes = 64 * 1024 * 1024;

/** Throws a `BackupError` if the disk of the folder has no room for so many bytes. */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes + keptBytes <= free) return;
  throw new BackupError(
    `there is not enough room in ${folder}: ${inMebibytes(bytes + keptBytes)} are needed, and ${inMebibytes(free)} are free`,
  );
}

function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}

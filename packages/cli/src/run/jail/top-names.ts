import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { unescaped } from './host-sockets.ts';

/**
 * Makes the names that are held at the top of the folder and are not there, so that something can be mounted on them.
 * They are empty folders, of which git takes no notice, or files, where git reads a file of that name.
 */
export function makeNames(paths: readonly string[], files: ReadonlyMap<string, string>): readonly string[] {
  return paths.filter((path) => {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return true;
    const content = files.get(path);
    try {
      if (content === undefined) mkdirSync(path);
      else writeFileSync(path, content, { flag: 'wx' });
      return true;
    } catch {
      // Who starts the program cannot make it, so the program cannot either.
      return false;
    }
  });
}

/** Takes away what is still as it was made, also what a killed run has left, unless another run stands on it. */
export function takeNamesAway(paths: readonly string[], files: ReadonlyMap<string, string>): void {
  const used = mountPointsOfOthers();
  for (const path of paths) {
    try {
      if (used.has(path)) continue;
      const content = files.get(path);
      if (content === undefined) rmdirSync(path);
      else if (lstatSync(path).isFile() && readFileSync(path, 'utf8') === content) unlinkSync(path);
    } catch {
      // It has content, or is a file: it was there before.
    }
  }
}

/** Where something is mounted in other mount namespaces. A folder that is removed here takes those mounts with it. */
function mountPointsOfOthers(): ReadonlySet<string> {
  const own = namespaceOf('self');
  const seen = new Set([own]);
  const points = new Set<string>();
  for (const pid of readdirSync('/proc')) {
    const namespace = /^\d+$/.test(pid) ? namespaceOf(pid) : undefined;
    if (namespace === undefined || seen.has(namespace)) continue;
    seen.add(namespace);
    for (const point of mountPointsOf(pid)) points.add(point);
  }
  return points;
}

function namespaceOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/** Where something is mounted for a process. Nowhere if it is gone. */
export function mountPointsOf(pid: number | string): ReadonlySet<string> {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
    return new Set(lines.flatMap((line) => line.split(' ')[4] ?? []).map(unescaped));
  } catch {
    return new Set();
  }
}

import type { FSWatcher } from 'node:fs';
import { statSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Calls `changed` when the fingerprint of a file or folder does. Notices of the operating system make it immediate; a
 * slow poll catches what they miss, for example on network file systems. Returns a function that ends the watch.
 */
export function watchPlace(path: string, fingerprint: () => string, changed: () => void): () => void {
  let last = fingerprint();
  const look = () => {
    const now = fingerprint();
    if (now === last) return;
    last = now;
    changed();
  };
  const poll = setInterval(look, 1000);
  poll.unref();
  const watcher = noticesOf(path, look);
  return () => {
    watcher?.close();
    clearInterval(poll);
  };
}

function noticesOf(path: string, look: () => void): FSWatcher | undefined {
  try {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const watcher = watch(isFolder ? path : dirname(path), { recursive: isFolder }, look);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Changes whenever one of the files does: their names, sizes and times. */
export function fingerprintOf(files: () => readonly string[]): string {
  try {
    return files()
      .map((file) => {
        const { ino, size, mtimeMs, ctimeMs } = statSync(file);
        return [file, ino, size, mtimeMs, ctimeMs].join(' ');
      })
      .join('\n');
  } catch (error) {
    return `unreadable: ${String(error)}`;
  }
}

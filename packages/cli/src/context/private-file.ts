import { dirname } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { ReeveFolder } from './reeve-folder.ts';

// Importing node:fs would load all its dependencies, which takes longer than reading the files.
const {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} = process.getBuiltinModule('node:fs');

/** A file that only its owner may read, in a folder that only its owner may enter. Looser permissions are tightened. */

/** The text of a file. Undefined if there is none. */
export function readPrivateFile(folder: ReeveFolder, path: string): string | undefined {
  tighten(folder.path, 0o700);
  tighten(path, 0o600);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * Changes a file under a lock, so that two commands at once lose nothing. `change` gets the current text and returns
 * the new one, or undefined to leave it. Readers see the old text or the new one, never a part.
 */
export async function changePrivateFile(
  folder: ReeveFolder,
  path: string,
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  try {
    makeFolder(folder);
    // Loaded on demand, as most commands only read.
    const { withLock } = await import('./file-lock.ts');
    await withLock(`${path}.lock`, async (requireHeld) => {
      const text = await change(readPrivateFile(folder, path));
      if (text === undefined) return;
      requireHeld();
      replaceFile(path, text);
    });
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot write ${path}: ${reasonOf(error, folder)}`, { cause: error });
  }
}

function makeFolder(folder: ReeveFolder): void {
  try {
    // Does not create the home folder: a missing one is a mistake.
    mkdirSync(folder.path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    tighten(folder.path, 0o700);
  }
}

function replaceFile(path: string, text: string): void {
  // A link stays a link. Its target is replaced.
  const target = realPath(path);
  const draft = `${target}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
}

/** The new name must survive a power failure as well. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Removes the permissions of others. If that fails, the file is used unchanged. */
function tighten(path: string, mode: number): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
  } catch {
    // The file does not exist, or it belongs to someone else.
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

export function reasonOf(error: unknown, folder: ReeveFolder): string {
  switch (codeOf(error) ?? '') {
    case 'ENOENT':
      return `the home folder ${folder.home} does not exist; set HOME`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${folder.path} is not a folder`;
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

import { createWriteStream } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CliError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';

/**
 * Writes a file that only its owner can read. It gets its name once it is complete, on the disk, and accepted by
 * `check`. It replaces another file only with `force`.
 */
export async function writePrivate(
  file: string,
  chunks: AsyncIterable<Buffer>,
  force: boolean,
  check: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  try {
    await pipeline(chunks, createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true }));
    await check(draft);
    if (force) await rename(draft, file);
    else await link(draft, file);
    await syncFolder(dirname(file));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(codeOf(error) === 'EEXIST' ? existsText(file) : `cannot write ${file}: ${textOf(error)}`, {
      cause: error,
    });
  } finally {
    await rm(draft, { force: true });
  }
}

export function existsText(file: string): string {
  return `${file} exists already; choose another name, or replace it with --force`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The new name must survive a power failure as well. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

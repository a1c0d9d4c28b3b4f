import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerAccess, ServerSpec, ToolHashes, ToolLock } from '@reeve/proxy/mcp';
import { hashesOf, listServerTools, lockText, readToolLock } from '@reeve/proxy/mcp';
import { CliError, UsageError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';
import { readYamlFile } from './read-file.ts';

/** The lock in a file. Undefined if there is no file. */
export async function readLock(path: string): Promise<ToolLock | undefined> {
  const content = await readYamlFile(path);
  if (content === undefined) return undefined;
  try {
    return readToolLock(content);
  } catch (error) {
    throw new UsageError(`${path} ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const lookMs = 500;

/**
 * The lock in a file, as it is at the moment: it counts as soon as it is written again. A file that goes away or cannot be
 * read lifts nothing, so the former lock stays.
 */
export async function followLock(path: string, warn: (line: string) => void): Promise<() => ToolLock | undefined> {
  let stamp = stampOf(path);
  let lock = await readLock(path);
  const look = async () => {
    const now = stampOf(path);
    if (now === stamp) return;
    stamp = now;
    try {
      const read = await readLock(path);
      if (read === undefined) warn(`${path} is gone; what it said still counts`);
      else lock = read;
    } catch (error) {
      warn(`${error instanceof Error ? error.message : String(error)}; what it said before still counts`);
    }
  };
  setInterval(() => void look(), lookMs).unref();
  return () => lock;
}

/** Differs whenever the file was written again. */
function stampOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
}

/** Asks a server for its tools, as they are to be locked. */
export async function currentTools(
  server: string,
  spec: ServerSpec,
  access: ServerAccess,
  warn: (line: string) => void,
): Promise<ToolHashes> {
  try {
    return hashesOf(await listServerTools(server, spec, access, warn));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`the tools of ${server} cannot be listed: ${reason}`, { cause: error });
  }
}

/** Readers see the old lock or the new one, never a part. */
export function writeLock(path: string, lock: ToolLock): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    // Somebody may have put a link there that leads to another file.
    rmSync(draft, { force: true });
    writeFileSync(draft, lockText(lock), { flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    throw new CliError(`cannot write ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
}

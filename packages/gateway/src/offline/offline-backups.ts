import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { Backup } from '../adapters/backup/make-backup.ts';
import { makeBackup } from '../adapters/backup/make-backup.ts';
import type { Manifest } from '../adapters/backup/manifest.ts';
import { BackupError, storeName } from '../adapters/backup/manifest.ts';
import type { UnpackOptions } from '../adapters/backup/unpack-backup.ts';
import { unpackBackup } from '../adapters/backup/unpack-backup.ts';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import { markRestoredStore } from '../adapters/sql/mark-restored-store.ts';
import type { VerifiedStore, VerifyPorts } from './verify-store.ts';
import { verifyStore } from './verify-store.ts';

/** Backups without a running gateway, for the command line. */

export { encrypted } from '../adapters/backup/encrypted-bytes.ts';
export { BackupError } from '../adapters/backup/manifest.ts';
export type { Manifest } from '../adapters/backup/manifest.ts';
export { unpackBackup } from '../adapters/backup/unpack-backup.ts';
export { StartError } from '../start-error.ts';

/** Makes a backup of the data folder of a stopped gateway. Nobody else can use the folder until it is disposed of. */
export async function backupFolder(folder: string, scratch: string): Promise<Backup> {
  if (!existsSync(join(folder, storeName))) throw new BackupError(`there is no store in ${folder}`);
  const taken = takeDataFolder(folder);
  try {
    const backup = await makeBackup({ folder, policiesElsewhere: false, scratch, version: manifest.version });
    return {
      ...backup,
      [Symbol.asyncDispose]: async () => {
        taken.release();
        await backup[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    taken.release();
    throw error;
  }
}

export interface VerifyOptions extends VerifyPorts, Pick<UnpackOptions, 'passphrase' | 'onRead'> {}

/** What a good backup holds. */
export interface VerifiedBackup extends VerifiedStore {
  readonly manifest: Manifest;
}

/** Checks a backup in all its parts. `scratch` is a folder with room for its store. */
export async function verifyBackup(file: string, scratch: string, options: VerifyOptions): Promise<VerifiedBackup> {
  const place = await mkdtemp(join(scratch, 'reeve-verify-'));
  try {
    return await unpackVerified(file, place, options);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/**
 * Restores a backup into a folder that is new or empty. Everything is unpacked and verified beside its place; the store
 * comes last, by one rename. So a restore that fails, or is killed, leaves no store behind that could be started.
 */
export async function restoreBackup(file: string, folder: string, options: VerifyOptions): Promise<VerifiedBackup> {
  const place = resolve(folder);
  const isNew = !existsSync(place);
  requireEmpty(place, folder);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const taken = takeDataFolder(place);
  let draft: string | undefined;
  const moved: string[] = [];
  try {
    requireEmpty(place, folder);
    for (const name of readdirSync(place).filter(isDraft)) rmSync(join(place, name), { recursive: true, force: true });
    draft = await mkdtemp(join(place, draftPrefix));
    const verified = await unpackVerified(file, draft, options);
    markRestoredStore(join(draft, storeName), Date.now(), Date.parse(verified.manifest.created_at));
    for (const name of ['policies', storeName]) {
      if (!existsSync(join(draft, name))) continue;
      await rename(join(draft, name), join(place, name));
      moved.push(name);
    }
    await sync(place);
    return verified;
  } catch (error) {
    for (const name of moved) rmSync(join(place, name), { recursive: true, force: true });
    throw error;
  } finally {
    if (draft !== undefined) rmSync(draft, { recursive: true, force: true });
    taken.release();
    if (!existsSync(join(place, storeName))) leaveAsFound(place, isNew);
  }
}

async function unpackVerified(file: string, folder: string, options: VerifyOptions): Promise<VerifiedBackup> {
  const manifest = await unpackBackup(file, { ...options, folder });
  const verified = await verifyStore(join(folder, storeName), options);
  const { chain } = verified;
  if (chain.result !== 'unbroken') throw new BackupError(`the chain of its log is broken: ${chain.why ?? 'unknown'}`);
  const isAsSaid = (chain.last_seq ?? 0) === manifest.head.seq && chain.entries === manifest.entries;
  const isSameHead = chain.last_hash === null || chain.last_hash === manifest.head.hash;
  if (!isAsSaid || !isSameHead) throw new BackupError('its log is not the one that its manifest describes');
  options.signal?.throwIfAborted();
  return { ...verified, manifest };
}

/** A restore that was killed leaves its draft behind. The next one removes it. */
const draftPrefix = '.restore-';
const isDraft = (name: string) => name.startsWith(draftPrefix);

/** The files that lock a folder are no data. */
const lockFiles = new Set(['gateway.lock', 'gateway.lock-journal', 'gateway.pid', 'gateway.sock', 'lost+found']);

function requireEmpty(place: string, named: string): void {
  if (!existsSync(place)) return;
  const first = readdirSync(place).find((name) => !lockFiles.has(name) && !isDraft(name));
  if (first === undefined) return;
  throw new BackupError(`${named} is not empty (it holds ${first}): restore into a new folder, or move it away`);
}

function leaveAsFound(place: string, isNew: boolean): void {
  for (const name of lockFiles) if (name.startsWith('gateway.')) rmSync(join(place, name), { force: true });
  if (isNew) rmdirSync(place);
}

/** The new names must survive a power failure as well. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startThread } from '../system/start-thread.ts';
import type { BackupAnswer, BackupJob, WrittenArchive } from './backup-worker.ts';
import type { Manifest } from './manifest.ts';
import { BackupError, storeName } from './manifest.ts';
import { requireRoom } from './require-room.ts';

export interface BackupSource {
  /** The data folder. */
  readonly folder: string;
  /** Whether the policies are read from elsewhere. */
  readonly policiesElsewhere: boolean;
  /** A folder with room for a copy of the store. */
  readonly scratch: string;
  readonly version: string;
}

/** A backup that is ready to be sent. Disposing of it frees its room. */
export interface Backup extends AsyncDisposable {
  readonly manifest: Manifest;
  /** The size and the digest of what the stream brings. */
  readonly bytes: number;
  readonly sha256: string;
  stream(): AsyncIterable<Buffer>;
}

const pieceBytes = 256 * 1024;
/** The copy, and the archive, which is smaller. */
const roomPerByte = 1.5;
/** What the folder of a backup in the making is called. */
const prefix = '.backup-';

/** Makes a backup of a data folder, in a thread of its own. */
export async function makeBackup({ folder, policiesElsewhere, scratch, version }: BackupSource): Promise<Backup> {
  await requireRoom(scratch, roomPerByte * storeBytes(folder));
  const place = await mkdtemp(join(scratch, prefix));
  const remove = () => rm(place, { recursive: true, force: true });
  try {
    const policies = join(folder, 'policies');
    const isIncluded = !policiesElsewhere && existsSync(policies);
    const { path, ...written } = await inThread({ folder, policies: isIncluded ? policies : null, place, version });
    return { ...written, stream: () => piecesOf(path), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** With what was not yet moved from the write-ahead log. */
function storeBytes(folder: string): number {
  const paths = [storeName, `${storeName}-wal`].map((name) => join(folder, name));
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** The file is opened when somebody reads, because a file that is open takes its room even after it is removed. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>;
}

/** Removes what a backup left behind that was interrupted, for example by a kill. */
export function removeCopies(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

async function inThread(job: BackupJob): Promise<WrittenArchive> {
  const worker = startThread(new URL('backup-worker.ts', import.meta.url), job);
  const ended = once(worker, 'exit');
  const [answer] = (await Promise.race([
    once(worker, 'message'),
    ended.then(() => [{ error: 'its thread has ended' }]),
  ])) as [BackupAnswer];
  await ended;
  if ('error' in answer) throw new BackupError(answer.error);
  return answer;
}

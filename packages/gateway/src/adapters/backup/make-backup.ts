import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline, Readable as Stream } from 'node:stream';
import { createGzip } from 'node:zlib';
import { PolicyFiles } from '../files/policy-files.ts';
import { startThread } from '../system/start-thread.ts';
import type { CopyAnswer, StoreFacts } from './copy-store-worker.ts';
import type { Manifest, Part } from './manifest.ts';
import { BackupError, formatVersion, manifestName, mostParts, policiesFolder, storeName } from './manifest.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

export interface BackupSource {
  /** The data folder. */
  readonly folder: string;
  /** Whether the policies are read from elsewhere. */
  readonly policiesElsewhere: boolean;
  /** A folder with room for a copy of the store. */
  readonly scratch: string;
  readonly version: string;
}

/** A backup that is ready to be written. */
export interface Backup extends AsyncDisposable {
  readonly manifest: Manifest;
  /** The compressed bytes. Read them once. */
  stream(): Readable;
}

const pieceBytes = 256 * 1024;
/** A log compresses to about a fifth at this level, and hardly further at higher ones, which take much longer. */
const level = 3;
/** What the folder of a copy is called. */
const copyPrefix = '.backup-';

/**
 * Copies the store of a data folder, and describes the backup. The copy is one moment of the store; the policy files
 * are read right after it. Dispose of the backup to remove the copy.
 */
export async function makeBackup({ folder, policiesElsewhere, scratch, version }: BackupSource): Promise<Backup> {
  const place = await mkdtemp(join(scratch, copyPrefix));
  const remove = () => rm(place, { recursive: true, force: true });
  try {
    const copyPath = join(place, storeName);
    const createdAt = new Date();
    const facts = await copyStore(join(folder, storeName), copyPath);
    const policies = policiesElsewhere ? [] : readPolicies(join(folder, 'policies'));
    const manifest = manifestOf(facts, policies, { version, createdAt, policiesElsewhere });
    return {
      manifest,
      stream: () => compressed(archive(manifest, copyPath, policies, createdAt)),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes what a backup left behind that was interrupted, for example by a kill. */
export function removeCopies(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(copyPrefix)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

interface PolicyPart extends Part {
  readonly content: Buffer;
}

async function copyStore(path: string, copyPath: string): Promise<StoreFacts> {
  const worker = startThread(new URL('copy-store-worker.ts', import.meta.url), { path, copyPath });
  const ended = once(worker, 'exit');
  const [answer] = (await Promise.race([
    once(worker, 'message'),
    ended.then(() => [{ error: 'its thread has ended' }]),
  ])) as [CopyAnswer];
  await ended;
  if ('error' in answer) throw new BackupError(`the store cannot be copied: ${answer.error}`);
  return answer.facts;
}

function readPolicies(path: string): PolicyPart[] {
  if (!existsSync(path)) return [];
  const sources = new PolicyFiles(path, false).read();
  if (sources.length >= mostParts) throw new BackupError(`${path} holds too many files: at most ${mostParts - 1}`);
  return sources.map(({ file, text }) => {
    const content = Buffer.from(text);
    return { name: `${policiesFolder}${file}`, bytes: content.length, sha256: sha256(content), content };
  });
}

function manifestOf(
  { schemaVersion, head, entries, bytes, sha256: digest }: StoreFacts,
  policies: readonly PolicyPart[],
  made: { readonly version: string; readonly createdAt: Date; readonly policiesElsewhere: boolean },
): Manifest {
  const parts = policies.map(({ name, bytes: size, sha256: its }) => ({ name, bytes: size, sha256: its }));
  return {
    format: formatVersion,
    reeve_version: made.version,
    created_at: made.createdAt.toISOString(),
    schema_version: schemaVersion,
    head,
    entries,
    policies: made.policiesElsewhere ? 'elsewhere' : 'included',
    parts: [{ name: storeName, bytes, sha256: digest }, ...parts],
  };
}

async function* archive(
  manifest: Manifest,
  copyPath: string,
  policies: readonly PolicyPart[],
  at: Date,
): AsyncGenerator<Buffer> {
  const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  yield Buffer.concat([tarHeader(manifestName, text.length, at), text, tarPadding(text.length)]);
  const [store] = manifest.parts;
  yield tarHeader(storeName, store?.bytes ?? 0, at);
  yield* createReadStream(copyPath, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>;
  yield tarPadding(store?.bytes ?? 0);
  for (const { name, content } of policies) {
    yield Buffer.concat([tarHeader(name, content.length, at), content, tarPadding(content.length)]);
  }
  yield tarEnd;
}

/** An error on the way reaches whoever reads the result. */
function compressed(chunks: AsyncGenerator<Buffer>): Readable {
  return pipeline(Stream.from(chunks), createGzip({ level, chunkSize: pieceBytes }), () => undefined);
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

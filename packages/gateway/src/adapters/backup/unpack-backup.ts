import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { decrypted, encryptedMagic } from './encrypted-bytes.ts';
import type { Manifest, Part } from './manifest.ts';
import { BackupError, manifestName, mostManifestBytes, parseManifest } from './manifest.ts';
import { requireRoom } from './require-room.ts';
import { SealCheck } from './seal.ts';
import { TarReader } from './tar.ts';

export interface UnpackOptions {
  /** Where the parts go. Undefined: they are only checked. */
  readonly folder?: string;
  readonly passphrase?: string | undefined;
  /** Called with the number of bytes that were read from the file so far. */
  readonly onRead?: (bytes: number) => void;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a backup, and checks every part against the manifest. Throws a `BackupError` if anything is not right. */
export async function unpackBackup(file: string, options: UnpackOptions = {}): Promise<Manifest> {
  const seal = new SealCheck();
  const unzip = createGunzip({ chunkSize: 256 * 1024 });
  const chunks = Readable.from(seal.through(await plainBytes(file, options)));
  const archive = new TarReader(pipeline(chunks, unzip, () => undefined));
  try {
    const first = await archive.next();
    if (first?.name !== manifestName || first.bytes > mostManifestBytes) {
      throw new BackupError('it is no backup of Reeve');
    }
    const manifest = parseManifest((await whole(archive)).toString('utf8'));
    if (options.folder !== undefined) await requireRoom(options.folder, sum(manifest.parts));
    for (const part of manifest.parts) {
      const found = await archive.next();
      if (found?.name !== part.name || found.bytes !== part.bytes) throw new BackupError(`${part.name} is missing`);
      await unpackPart(archive, part, options);
    }
    if ((await archive.next()) !== undefined) throw new BackupError('it holds more than its manifest says');
    // What follows the last member, gzip leaves unread without a word.
    if (unzip.bytesWritten !== seal.bytes) throw new BackupError('something follows its end');
    if (manifest.sealed === true && !seal.isSealed) throw new BackupError('it is damaged: its seal does not fit');
    return manifest;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'Z_BUF_ERROR') throw new BackupError('it ends too early: it is not complete', { cause: error });
    if (!code.startsWith('Z_')) throw error;
    throw new BackupError('it is damaged, or no backup of Reeve', { cause: error });
  }
}

/** The bytes of the file, without the encryption if it has one. */
async function plainBytes(file: string, { passphrase, onRead }: UnpackOptions): Promise<AsyncIterable<Buffer>> {
  const isSealed = await isEncrypted(file);
  const chunks = counting(file, onRead);
  if (isSealed) {
    if (passphrase === undefined)
      throw new BackupError('it is encrypted; name the file that holds its passphrase with --passphrase-file');
    return decrypted(chunks, passphrase);
  }
  return chunks;
}

async function isEncrypted(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const start = Buffer.alloc(encryptedMagic.length);
    await handle.read(start, 0, start.length, 0);
    return start.equals(encryptedMagic);
  } finally {
    await handle.close();
  }
}

async function* counting(file: string, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    onRead?.(bytes);
    yield chunk;
  }
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}

async function whole(archive: TarReader): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of archive.content()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function unpackPart(
  archive: TarReader,
  { name, sha256 }: Part,
  { folder, signal }: UnpackOptions,
): Promise<void> {
  const digest = createHash('sha256');
  const path = folder === undefined ? undefined : join(folder, name);
  if (path !== undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = path === undefined ? undefined : await open(path, 'wx', 0o600);
  try {
    for await (const piece of archive.content()) {
      signal?.throwIfAborted();
      digest.update(piece);
      await file?.writeFile(piece);
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  if (digest.digest('hex') !== sha256) throw new BackupError(`${name} is damaged: its checksum does not fit`);
}

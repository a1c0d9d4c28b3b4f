import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Manifest, Part } from './manifest.ts';
import { manifestName, storeName } from './manifest.ts';
import { sealOf } from './seal.ts';
import { tarHeader, tarPadding } from './tar.ts';

const pieceBytes = 1024 * 1024;
/** A log compresses to about a sixth at this level, and hardly further at higher ones, which take much longer. */
const level = 3;

/**
 * Writes the archive, compressed. Every piece is a gzip member of its own; one after the other, they are one gzip file.
 * All of it happens in this thread.
 */
export function writeArchive(
  path: string,
  manifest: Manifest,
  storePath: string,
  files: readonly { readonly name: string; readonly content: Buffer }[],
): Pick<Part, 'bytes' | 'sha256'> {
  const digest = createHash('sha256');
  const out = openSync(path, 'wx', 0o600);
  let bytes = 0;
  const append = (compressed: Buffer) => {
    digest.update(compressed);
    for (let from = 0; from < compressed.length; ) from += writeSync(out, compressed, from);
    bytes += compressed.length;
  };
  const write = (...parts: Buffer[]) => append(gzipSync(Buffer.concat(parts), { level }));
  try {
    const at = new Date(manifest.created_at);
    const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
    const size = manifest.parts[0]?.bytes ?? 0;
    write(tarHeader(manifestName, text.length, at), text, tarPadding(text.length), tarHeader(storeName, size, at));
    for (const piece of piecesOf(storePath)) write(piece);
    write(tarPadding(size));
    for (const { name, content } of files) {
      write(tarHeader(name, content.length, at), content, tarPadding(content.length));
    }
    append(sealOf(digest.copy().digest()));
    return { bytes, sha256: digest.digest('hex') };
  } finally {
    closeSync(out);
  }
}

export function digestOf(path: string): Pick<Part, 'bytes' | 'sha256'> {
  const digest = createHash('sha256');
  let bytes = 0;
  for (const piece of piecesOf(path)) {
    digest.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: digest.digest('hex') };
}

/** The content of a file. Each piece is gone when the next one is read. */
function* piecesOf(path: string): Generator<Buffer> {
  const piece = Buffer.alloc(pieceBytes);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) yield piece.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { BackupError } from './manifest.ts';

/**
 * Bytes under a passphrase. They begin with a line that names the form, a salt and a random prefix. Then come pieces,
 * each under AES-256-GCM with its tag. The nonce of a piece is the prefix, its number, and whether it is the last one.
 * So pieces cannot be changed, left out, swapped or cut off at the end. scrypt makes the key, at today's usual cost.
 */
export const encryptedMagic: Buffer = Buffer.from('reeve encrypted backup 1\n');

const saltBytes = 16;
const prefixBytes = 7;
const pieceBytes = 64 * 1024;
const tagBytes = 16;
const cipher = 'aes-256-gcm';
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

export async function* encrypted(chunks: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const head = Buffer.concat([encryptedMagic, randomBytes(saltBytes), randomBytes(prefixBytes)]);
  const seal = sealer(await keyOf(passphrase, head), head);
  yield head;
  let rest = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    // The last piece is told apart, so one is held back.
    while (rest.length > pieceBytes) {
      yield seal(rest.subarray(0, pieceBytes), number++, false);
      rest = rest.subarray(pieceBytes);
    }
  }
  yield seal(rest, number, true);
}

/** Throws a `BackupError` if the passphrase is wrong or anything was changed. What it yields before is genuine. */
export async function* decrypted(chunks: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const headBytes = encryptedMagic.length + saltBytes + prefixBytes;
  let rest = Buffer.alloc(0);
  let open: ReturnType<typeof opener> | undefined;
  let number = 0;
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    if (open === undefined) {
      if (rest.length < headBytes) continue;
      const head = rest.subarray(0, headBytes);
      open = opener(await keyOf(passphrase, head), head);
      rest = rest.subarray(headBytes);
    }
    while (rest.length > pieceBytes + tagBytes) {
      yield open(rest.subarray(0, pieceBytes + tagBytes), number++, false);
      rest = rest.subarray(pieceBytes + tagBytes);
    }
  }
  if (open === undefined) throw new BackupError('it ends too early: it is not complete');
  yield open(rest, number, true);
}

function keyOf(passphrase: string, head: Buffer): Promise<Buffer> {
  const salt = head.subarray(encryptedMagic.length, encryptedMagic.length + saltBytes);
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, 32, cost, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function nonceOf(head: Buffer, number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  head.copy(nonce, 0, head.length - prefixBytes);
  nonce.writeUInt32BE(number, prefixBytes);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function sealer(key: Buffer, head: Buffer) {
  return (piece: Buffer, number: number, isLast: boolean): Buffer => {
    const sealing = createCipheriv(cipher, key, nonceOf(head, number, isLast)).setAAD(head);
    return Buffer.concat([sealing.update(piece), sealing.final(), sealing.getAuthTag()]);
  };
}

function opener(key: Buffer, head: Buffer) {
  return (sealed: Buffer, number: number, isLast: boolean): Buffer => {
    if (sealed.length < tagBytes) throw new BackupError('it ends too early: it is not complete');
    const opening = createDecipheriv(cipher, key, nonceOf(head, number, isLast), { authTagLength: tagBytes });
    opening.setAAD(head).setAuthTag(sealed.subarray(sealed.length - tagBytes));
    try {
      return Buffer.concat([opening.update(sealed.subarray(0, sealed.length - tagBytes)), opening.final()]);
    } catch {
      throw new BackupError(
        number === 0 ? 'the passphrase is wrong, or the file is damaged' : 'it is damaged, or not complete',
      );
    }
  };
}

import { expect, test } from 'vitest';
import { decrypted, encrypted } from './encrypted-bytes.ts';

const passphrase = 'correct horse battery staple';
const piece = 64 * 1024;
const headBytes = 25 + 16 + 7;

async function* pieces(bytes: Buffer, size = 50_000): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}

const seal = (bytes: Buffer) => all(encrypted(pieces(bytes), passphrase));
const open = (bytes: Buffer, words = passphrase) => all(decrypted(pieces(bytes), words));
const bytesOf = (length: number) => Buffer.alloc(length, 'some bytes of a backup ');

test('comes back as it was, at the bounds of pieces, too', async () => {
  for (const length of [0, 1, piece, piece + 1, 3 * piece]) {
    const plain = bytesOf(length);
    const sealed = await seal(plain);
    expect(sealed.includes('some bytes')).toBe(false);
    expect((await open(sealed)).equals(plain)).toBe(true);
  }
});

test('is never the same twice, and opens with its passphrase alone', async () => {
  const [one, other] = await Promise.all([seal(bytesOf(10)), seal(bytesOf(10))]);
  expect(one.equals(other)).toBe(false);
  await expect(open(one, 'incorrect horse battery staple')).rejects.toThrow('the passphrase is wrong');
});

test('does not open if anything was changed, left out, swapped or cut off', async () => {
  const sealed = await seal(bytesOf(3 * piece));
  const block = piece + 16;
  const at = (number: number) => headBytes + number * block;
  const flipped = Buffer.from(sealed);
  flipped.writeUInt8(flipped.readUInt8(at(1) + 7) ^ 1, at(1) + 7);
  const salted = Buffer.from(sealed);
  salted.writeUInt8(salted.readUInt8(30) ^ 1, 30);
  const [head, first, second, third] = [
    sealed.subarray(0, headBytes),
    sealed.subarray(at(0), at(1)),
    sealed.subarray(at(1), at(2)),
    sealed.subarray(at(2)),
  ];
  const bad = {
    flipped,
    salted,
    swapped: Buffer.concat([head, second, first, third]),
    'without its middle': Buffer.concat([head, first, third]),
    'without its end': Buffer.concat([head, first, second]),
    'cut in a piece': sealed.subarray(0, at(1) + 100),
    'twice its end': Buffer.concat([sealed, third]),
    'only its head': head,
    nothing: Buffer.alloc(0),
  };
  for (const [how, bytes] of Object.entries(bad)) await expect(open(bytes), how).rejects.toThrow(/damaged|complete/);
});

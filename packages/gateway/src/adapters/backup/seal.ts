import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { tarEnd } from './tar.ts';

/**
 * The last gzip member of an archive. It holds the end of the tar archive, and in its header the SHA-256 of all bytes
 * before it. Its own bytes follow from that digest, so a reader compares them whole: damage is noticed in every bit of
 * the file, those included that gzip gives no meaning to.
 */
export function sealOf(digest: Buffer): Buffer {
  const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 4 + digest.length, 0, 0x52, 0x56, digest.length, 0]);
  // One block that is stored as it is.
  const block = Buffer.from([1, 0, 0, 0, 0]);
  block.writeUInt16LE(tarEnd.length, 1);
  block.writeUInt16LE(0xffff - tarEnd.length, 3);
  const check = Buffer.alloc(8);
  check.writeUInt32LE(crc32(tarEnd), 0);
  check.writeUInt32LE(tarEnd.length, 4);
  return Buffer.concat([head, digest, block, tarEnd, check]);
}

const sealBytes = sealOf(Buffer.alloc(32)).length;

/** Passes the bytes of an archive on. At their end it can tell whether they end with their own seal. */
export class SealCheck {
  #digest = createHash('sha256');
  #held: Buffer = Buffer.alloc(0);
  #passed = 0;
  #isSealed = false;

  get isSealed(): boolean {
    return this.#isSealed;
  }

  /** How many bytes went through. */
  get bytes(): number {
    return this.#passed;
  }

  async *through(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#passed += chunk.length;
      this.#held = Buffer.concat([this.#held, chunk]);
      const before = this.#held.subarray(0, Math.max(0, this.#held.length - sealBytes));
      this.#digest.update(before);
      this.#held = this.#held.subarray(before.length);
      yield chunk;
    }
    this.#isSealed = this.#held.equals(sealOf(this.#digest.digest()));
  }
}

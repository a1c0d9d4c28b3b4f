import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Reads 64-bit numbers that a number of JavaScript does not hold as the nearest that it does. What a gateway has spent
 * has no bound; an answer that tells of it must be readable all the same.
 */
export class CappedReader extends BinaryReader {
  override int64(): string | bigint {
    const value = BigInt(super.int64());
    if (value > most) return most;
    return value < -most ? -most : value;
  }
}

const most = BigInt(Number.MAX_SAFE_INTEGER);

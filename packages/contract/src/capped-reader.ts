import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Reads a 64-bit number that JavaScript cannot hold as the nearest number that it can. The spend of a gateway has no
 * bound, and an answer that contains it must stay readable.
 */
export class CappedReader extends BinaryReader {
  override int64(): string | bigint {
    const value = BigInt(super.int64());
    if (value > most) return most;
    return value < -most ? -most : value;
  }
}

const most = BigInt(Number.MAX_SAFE_INTEGER);

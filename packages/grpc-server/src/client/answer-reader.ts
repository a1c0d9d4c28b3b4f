import { HeadCache } from '../calls/head-cache.ts';
import { HpackDecoder } from '../hpack/decoder.ts';
import { HpackError } from '../hpack/hpack-error.ts';
import { ConnectionError } from '../http2/connection-error.ts';
import { errorCode } from '../http2/frame.ts';
import type { AnswerHead } from './answer-head.ts';
import { answerHeadOf } from './answer-head.ts';

const tableSize = 4096;

/** Reads the header blocks of one connection. Servers repeat them, so most are not decoded. */
export class AnswerReader {
  readonly #decoder: HpackDecoder;
  readonly #known = new HeadCache<AnswerHead>();

  constructor(largestList: number) {
    this.#decoder = new HpackDecoder(tableSize, largestList);
  }

  read(bytes: Buffer, start: number, end: number): AnswerHead {
    const { version } = this.#decoder;
    const known = this.#known.find(version, bytes, start, end);
    if (known !== undefined) return known;
    const head = answerHeadOf(this.#decode(bytes, start, end));
    if (this.#decoder.version === version) this.#known.add(version, bytes, start, end, head);
    return head;
  }

  #decode(bytes: Buffer, start: number, end: number) {
    try {
      return this.#decoder.decode(bytes, start, end);
    } catch (error) {
      if (error instanceof HpackError) throw new ConnectionError(errorCode.compressionError, error.message);
      throw error;
    }
  }
}

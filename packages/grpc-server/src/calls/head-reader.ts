import type { FieldList } from '../hpack/decoder.ts';
import { HpackDecoder } from '../hpack/decoder.ts';
import { HpackBomb, HpackError } from '../hpack/hpack-error.ts';
import { ConnectionError } from '../http2/connection-error.ts';
import { errorCode } from '../http2/frame.ts';
import { HeadCache } from './head-cache.ts';
import type { RequestHead, Routes } from './request-head.ts';
import { requestHeadOf } from './request-head.ts';

const tableSize = 4096;

/** Reads the header blocks of one connection. */
export class HeadReader {
  readonly #routes: Routes;
  readonly #decoder: HpackDecoder;
  readonly #known = new HeadCache<RequestHead>();

  constructor(routes: Routes, largestList: number) {
    this.#routes = routes;
    this.#decoder = new HpackDecoder(tableSize, largestList);
  }

  /** The head of a request. A block that came before is not decoded again. */
  head(bytes: Buffer, start: number, end: number): RequestHead {
    const { version } = this.#decoder;
    const known = this.#known.find(version, bytes, start, end);
    if (known !== undefined) return known;
    const head = requestHeadOf(this.fields(bytes, start, end), this.#routes);
    if (this.#decoder.version === version) this.#known.add(version, bytes, start, end, head);
    return head;
  }

  /** Any block. Every one is decoded, because it may change the dynamic table. */
  fields(bytes: Buffer, start: number, end: number): FieldList {
    try {
      return this.#decoder.decode(bytes, start, end);
    } catch (error) {
      if (error instanceof HpackBomb) throw new ConnectionError(errorCode.enhanceYourCalm, error.message);
      if (error instanceof HpackError) throw new ConnectionError(errorCode.compressionError, error.message);
      throw error;
    }
  }
}

import { ConnectionError } from '../http2/connection-error.ts';
import { errorCode } from '../http2/frame.ts';
import type { Limits } from '../limits.ts';

export type BlockLimits = Pick<Limits, 'headerBlockBytes' | 'headerBlockFrames'>;

/** A header block that comes in several frames: HEADERS and CONTINUATION (RFC 9113 §4.3). */
export class HeaderBlock {
  readonly stream: number;
  readonly isLast: boolean;
  /** When it began. */
  readonly since: number;
  readonly #limits: BlockLimits;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(stream: number, isLast: boolean, since: number, limits: BlockLimits) {
    this.stream = stream;
    this.isLast = isLast;
    this.since = since;
    this.#limits = limits;
  }

  add(bytes: Buffer, start: number, end: number): void {
    const { headerBlockBytes, headerBlockFrames } = this.#limits;
    this.#bytes += end - start;
    if (this.#bytes > headerBlockBytes) {
      throw new ConnectionError(errorCode.enhanceYourCalm, `a header block is over ${headerBlockBytes} bytes`);
    }
    this.#parts.push(Buffer.from(bytes.subarray(start, end)));
    if (this.#parts.length > headerBlockFrames) {
      throw new ConnectionError(errorCode.enhanceYourCalm, `a header block is over ${headerBlockFrames} frames`);
    }
  }

  whole(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

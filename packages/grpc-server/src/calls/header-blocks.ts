import { ConnectionError, unexpected } from '../http2/connection-error.ts';
import { errorCode, flag } from '../http2/frame.ts';
import type { Limits } from '../limits.ts';
import { HeaderBlock } from './header-block.ts';
import type { Streams } from './streams.ts';

/** Takes HEADERS and CONTINUATION, and passes whole header blocks on. */
export class HeaderBlocks {
  readonly #limits: Limits;
  readonly #streams: Streams;
  #block: HeaderBlock | undefined;

  constructor(limits: Limits, streams: Streams) {
    this.#limits = limits;
    this.#streams = streams;
  }

  /** Whether a block is unfinished, so that nothing but CONTINUATION may come. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  /** When the unfinished block began. */
  get since(): number | undefined {
    return this.#block?.since;
  }

  headers(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) throw unexpected('HEADERS');
    const isPadded = (flags & flag.padded) !== 0;
    const padding = isPadded ? (bytes[start] ?? 0) : 0;
    const from = start + (isPadded ? 1 : 0) + ((flags & flag.priority) === 0 ? 0 : 5);
    const to = end - padding;
    if (from > end) throw new ConnectionError(errorCode.frameSizeError, 'HEADERS is too short');
    if (from > to) throw new ConnectionError(errorCode.protocolError, 'the padding is longer than its frame');
    const isLast = (flags & flag.endStream) !== 0;
    if ((flags & flag.endHeaders) !== 0) {
      this.#streams.headers(stream, isLast, bytes, from, to);
    } else {
      this.#block = new HeaderBlock(stream, isLast, this.#streams.now, this.#limits);
      this.#block.add(bytes, from, to);
    }
  }

  continuation(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#block;
    if (block === undefined || block.stream !== stream) throw unexpected('CONTINUATION');
    block.add(bytes, start, end);
    if ((flags & flag.endHeaders) === 0) return;
    this.#block = undefined;
    const whole = block.whole();
    this.#streams.headers(stream, block.isLast, whole, 0, whole.length);
  }
}

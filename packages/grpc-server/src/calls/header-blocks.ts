import { ConnectionError, unexpected } from '../http2/connection-error.ts';
import { errorCode, flag } from '../http2/frame.ts';
import type { BlockLimits } from './header-block.ts';
import { HeaderBlock } from './header-block.ts';

/** Gets whole header blocks. */
export interface BlockSink {
  /** When the last bytes came, on `performance.now()`. */
  readonly now: number;
  headers(stream: number, isLast: boolean, bytes: Buffer, start: number, end: number): void;
}

/** Takes HEADERS and CONTINUATION, and passes whole header blocks on. */
export class HeaderBlocks {
  readonly #limits: BlockLimits;
  readonly #sink: BlockSink;
  #block: HeaderBlock | undefined;

  constructor(limits: BlockLimits, sink: BlockSink) {
    this.#limits = limits;
    this.#sink = sink;
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
      this.#sink.headers(stream, isLast, bytes, from, to);
    } else {
      this.#block = new HeaderBlock(stream, isLast, this.#sink.now, this.#limits);
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
    this.#sink.headers(stream, block.isLast, whole, 0, whole.length);
  }
}

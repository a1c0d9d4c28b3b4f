import { ConnectionError } from './connection-error.ts';
import { defaultFrameSize, errorCode, flag, frameHeaderBytes, frameType, readUint31 } from './frame.ts';

/** Gets frames as they come. Bytes are only lent: `start` and `end` are places in the buffer that was read. */
export interface FrameSink {
  /** False if no further frame should be read in this turn. */
  readonly mayReadOn: boolean;
  /** A DATA frame begins. `length` is what flow control counts: the content and its padding. */
  dataBegins(stream: number, length: number, content: number, isLast: boolean): void;
  /** Content of the DATA frame that has begun, in one or many parts. Returns where it stopped. */
  dataPart(bytes: Buffer, start: number, end: number): number;
  dataEnds(): void;
  /** Any other frame, whole. */
  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void;
}

/**
 * Cuts what a socket reads into frames. The content of DATA is passed on as it comes; only a frame of another type that
 * spans reads is put together.
 */
export class FrameReader {
  readonly #sink: FrameSink;
  /** The beginning of a frame whose rest has not come. */
  #rest: Buffer | undefined;
  /** What is left of a DATA frame. */
  #content = 0;
  #padding = 0;
  #isInData = false;
  #isStopped = false;
  #hasMore = false;
  #since: number | undefined;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** When the frame began that is not here yet. DATA does not count: its content is passed on as it comes. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Whether it stopped before the end of what has come. `read` goes on. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Reads no further, not even what has come already. */
  stop(): void {
    this.#isStopped = true;
  }

  read(chunk: Buffer, now: number): void {
    const rest = this.#rest;
    const bytes = rest === undefined ? chunk : chunk.length === 0 ? rest : Buffer.concat([rest, chunk]);
    this.#rest = undefined;
    this.#hasMore = false;
    const { length } = bytes;
    let at = 0;
    while (at < length && !this.#isStopped) {
      if (!this.#sink.mayReadOn) {
        this.#rest = bytes.subarray(at);
        this.#hasMore = true;
        this.#since = undefined;
        return;
      }
      const next = this.#isInData ? this.#readData(bytes, at, length) : this.#readFrame(bytes, at, length);
      if (next === at) {
        // A copy, so that a few bytes do not keep the whole read.
        this.#rest = Buffer.from(bytes.subarray(at));
        if (at > 0) this.#since = now;
        this.#since ??= now;
        return;
      }
      at = next;
    }
    this.#since = undefined;
  }

  /** Returns where the next frame begins, or `at` if this one is not here yet. */
  #readFrame(bytes: Buffer, at: number, end: number): number {
    if (end - at < frameHeaderBytes) return at;
    const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    if (length > defaultFrameSize) {
      throw new ConnectionError(
        errorCode.frameSizeError,
        `a frame of ${length} bytes is over the limit of ${defaultFrameSize}`,
      );
    }
    const type = bytes[at + 3] ?? 0;
    const flags = bytes[at + 4] ?? 0;
    const stream = readUint31(bytes, at + 5);
    const payload = at + frameHeaderBytes;
    if (type === frameType.data) return this.#beginData(bytes, at, end, length, flags, stream);
    if (payload + length > end) return at;
    this.#sink.frame(type, flags, stream, bytes, payload, payload + length);
    return payload + length;
  }

  #beginData(bytes: Buffer, at: number, end: number, length: number, flags: number, stream: number): number {
    let payload = at + frameHeaderBytes;
    this.#content = length;
    this.#padding = 0;
    if ((flags & flag.padded) !== 0) {
      if (length === 0)
        throw new ConnectionError(errorCode.frameSizeError, 'a padded frame without a length of padding');
      if (payload >= end) return at;
      this.#padding = bytes[payload++] ?? 0;
      this.#content = length - 1 - this.#padding;
      if (this.#content < 0) throw new ConnectionError(errorCode.protocolError, 'the padding is longer than its frame');
    }
    this.#isInData = true;
    this.#sink.dataBegins(stream, length, this.#content, (flags & flag.endStream) !== 0);
    return this.#readData(bytes, payload, end);
  }

  #readData(bytes: Buffer, at: number, end: number): number {
    const contentEnd = Math.min(at + this.#content, end);
    if (contentEnd > at) {
      const stop = this.#sink.dataPart(bytes, at, contentEnd);
      this.#content -= stop - at;
      if (stop < contentEnd) return stop;
    }
    const skipped = Math.min(this.#padding, end - contentEnd);
    this.#padding -= skipped;
    if (this.#content === 0 && this.#padding === 0) {
      this.#isInData = false;
      this.#sink.dataEnds();
    }
    return contentEnd + skipped;
  }
}

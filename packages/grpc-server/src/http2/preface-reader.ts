import { ConnectionError } from './connection-error.ts';
import { errorCode, preface } from './frame.ts';

/** Takes the preface of a client (RFC 9113 §3.4), in as many pieces as it comes. */
export class PrefaceReader {
  #left: Buffer = preface;

  get isDone(): boolean {
    return this.#left.length === 0;
  }

  /** Returns what follows the preface. */
  read(chunk: Buffer): Buffer {
    const length = Math.min(this.#left.length, chunk.length);
    if (this.#left.compare(chunk, 0, length, 0, length) !== 0) {
      throw new ConnectionError(errorCode.protocolError, 'the connection does not begin with the preface of HTTP/2');
    }
    this.#left = this.#left.subarray(length);
    return chunk.subarray(length);
  }
}

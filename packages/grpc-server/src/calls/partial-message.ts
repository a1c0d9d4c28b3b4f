import { readUint32 } from '../http2/frame.ts';

export const prefixBytes = 5;
const firstBytes = 4096;

/** A message whose bytes come in several pieces. It grows with what has come, whatever length it declares. */
export class PartialMessage {
  /** The declared length, once the prefix is here. */
  length: number | undefined;
  #bytes: Buffer = Buffer.allocUnsafeSlow(prefixBytes);
  #filled = 0;

  /** How many bytes of the message are missing; 1 if the prefix does not say yet. */
  get missing(): number {
    return this.length === undefined ? 1 : this.length - this.#filled;
  }

  get isComplete(): boolean {
    return this.length !== undefined && this.#filled === this.length;
  }

  get message(): Buffer {
    return this.#bytes.subarray(0, this.#filled);
  }

  /** Takes bytes of the prefix, or else of the message, and returns where it stopped. */
  take(bytes: Buffer, start: number, end: number): number {
    const wanted = this.length === undefined ? prefixBytes - this.#filled : this.length - this.#filled;
    const stop = Math.min(end, start + wanted);
    if (this.length !== undefined) this.#grow(this.#filled + stop - start, this.length);
    bytes.copy(this.#bytes, this.#filled, start, stop);
    this.#filled += stop - start;
    if (this.length === undefined && this.#filled === prefixBytes) this.#readPrefix();
    return stop;
  }

  #readPrefix(): void {
    this.length = readUint32(this.#bytes, 1);
    this.#filled = 0;
  }

  #grow(needed: number, most: number): void {
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(most, Math.max(needed, this.#bytes.length * 2, firstBytes)));
    this.#bytes.copy(larger, 0, 0, this.#filled);
    this.#bytes = larger;
  }
}

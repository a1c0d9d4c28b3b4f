const prefixLength = 5;

/** Follows the messages of a gRPC stream by their length prefixes, without keeping any message. */
export class MessageMeter {
  readonly #prefix = Buffer.alloc(prefixLength);
  #prefixed = 0;
  #left = 0;
  #declared = 0;
  #length = 0;
  #finished = 0;
  #isCompressed = false;

  /** The declared length of the message whose prefix came last; 0 once it is finished. */
  get declared(): number {
    return this.#declared;
  }

  /** Whether part of a message has come. */
  get isUnfinished(): boolean {
    return this.#prefixed > 0 || this.#left > 0;
  }

  /** How many messages are complete. */
  get finished(): number {
    return this.#finished;
  }

  /** How many messages have begun, by the first byte of their prefix. */
  get begun(): number {
    return this.#finished + (this.isUnfinished ? 1 : 0);
  }

  /** The total length of the complete messages. */
  get length(): number {
    return this.#length;
  }

  /** Whether any message was marked as compressed. */
  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        if (this.#prefixed === 0 && chunk[at] !== 0) this.#isCompressed = true;
        this.#prefix[this.#prefixed++] = chunk[at++] ?? 0;
        if (this.#prefixed < prefixLength) continue;
        this.#prefixed = 0;
        this.#left = this.#prefix.readUInt32BE(1);
        this.#declared = this.#left;
      }
      if (this.#left > 0) continue;
      this.#length += this.#declared;
      this.#declared = 0;
      this.#finished++;
    }
  }
}

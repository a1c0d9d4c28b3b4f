import { Socket } from 'node:net';

/** A socket without a network: what is received is given to `receive`, and what is sent is kept. */
export class LocalSocket extends Socket {
  readonly sent: Buffer[] = [];
  /** Says of the next bytes whether the peer reads them at once. */
  readonly #reads: () => boolean;
  #unread = 0;

  constructor(reads: () => boolean) {
    super();
    this.#reads = reads;
    Object.defineProperty(this, 'writableLength', { get: () => this.#unread });
  }

  receive(bytes: Buffer): void {
    if (!this.destroyed) this.emit('data', bytes);
  }

  override write(bytes: Uint8Array | string): boolean {
    // The engine uses its buffers again.
    this.sent.push(Buffer.from(bytes));
    if (this.#reads()) return true;
    this.#unread += bytes.length;
    setImmediate(() => {
      this.#unread = 0;
      this.emit('drain');
    });
    return false;
  }
}
